// Loads a Compose file as Docker Compose does, and prints it as JSON: schema, variables, profiles.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	profiles := strings.Split(os.Args[2], ",")
	options, err := cli.NewProjectOptions(
		os.Args[1:2], cli.WithOsEnv, cli.WithName("rt4chart"), cli.WithProfiles(profiles),
	)
	if err == nil {
		project, failure := options.LoadProject(context.Background())
		if err = failure; err == nil {
			err = json.NewEncoder(os.Stdout).Encode(project)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
