{{- define "rt4chart.name" -}}
{{- $name := .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- if contains "rt4chart" $name }}{{ $name }}{{ else }}{{ $name }}-rt4chart{{ end -}}
{{- end }}

{{- /* What selects a component's pods: dict "root" $ "component" "worker". */ -}}
{{- define "rt4chart.selector" -}}
app.kubernetes.io/name: rt4chart
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "rt4chart.labels" -}}
{{ include "rt4chart.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "rt4chart.metadata" -}}
name: {{ include "rt4chart.name" .root }}-{{ .component }}
labels:
  {{- include "rt4chart.labels" . | nindent 2 }}
{{- end }}

{{- define "rt4chart.podMetadata" -}}
labels:
  {{- include "rt4chart.labels" . | nindent 2 }}
{{- with .root.Values.pod.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "rt4chart.image" -}}
image: {{ .Values.image.repository }}@{{ .Values.image.digest }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{- /* Seconds until the process must have ended: RT4CHART_STOP_S, 15 more, and a little. */ -}}
{{- define "rt4chart.grace" -}}
{{ add (int (ceil (float64 (index .Values.settings "RT4CHART_STOP_S" | default "30")))) 20 }}
{{- end }}

{{- /* No variable for each Service of the namespace: RT4CHART_KAFKA_SERVICE_HOST looks like a setting. */ -}}
{{- define "rt4chart.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: {{ .Values.pod.fsGroup }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.pod.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pod.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pod.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "rt4chart.locked" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- /* A variable from the Secret: dict "root" $ "name" "RT4CHART_DSN". */ -}}
{{- define "rt4chart.secretEnv" -}}
- name: {{ .name }}
  valueFrom: {secretKeyRef: {name: {{ .root.Values.secret.name }}, key: {{ .key | default .name }}}}
{{- end }}

{{- /* The settings and secrets that a process reads: dict "root" $ "process" "work". */ -}}
{{- define "rt4chart.env" -}}
{{- $root := .root -}}
{{- $reads := index (.root.Files.Get "files/processes.yaml" | fromYaml) .process -}}
{{- range $reads.settings }}
{{- if hasKey $root.Values.settings . }}
- {name: {{ . }}, value: {{ index $root.Values.settings . | quote }}}
{{- end }}
{{- end }}
{{- range $reads.secrets }}
{{- if has . $root.Values.secret.keys }}
{{ include "rt4chart.secretEnv" (dict "root" $root "name" .) }}
{{- end }}
{{- end }}
{{- with .root.Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Tokens as files, which are read again when the Secret changes: dict "root" $ "tokens" (list "READ"). */ -}}
{{- define "rt4chart.tokenEnv" -}}
{{- range .tokens }}
- {name: RT4CHART_{{ . }}_TOKEN_FILE, value: /etc/rt4chart/tokens/{{ lower . }}}
{{- end }}
{{- end }}

{{- define "rt4chart.tokenVolume" -}}
- name: tokens
  secret:
    secretName: {{ .root.Values.secret.name }}
    defaultMode: 0440
    items:
      {{- range .tokens }}
      - {key: RT4CHART_{{ . }}_TOKEN, path: {{ lower . }}}
      {{- end }}
{{- end }}

{{- define "rt4chart.tokenMount" -}}
- {name: tokens, mountPath: /etc/rt4chart/tokens, readOnly: true}
{{- end }}

{{- define "rt4chart.temporary" -}}
- {name: tmp, emptyDir: {sizeLimit: 256Mi}}
{{- end }}

{{- /* Where a process without data of its own writes: dict "root" $. */ -}}
{{- define "rt4chart.statelessVolumes" -}}
{{ include "rt4chart.temporary" . }}
- {name: home, emptyDir: {sizeLimit: 256Mi}}
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "rt4chart.mounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: home, mountPath: /var/lib/rt4chart}
{{- with .root.Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Probes: dict "path" "/readyz" "port" "health", and where it differs "scheme". */ -}}
{{- define "rt4chart.probes" -}}
{{- $scheme := .scheme | default "HTTP" -}}
startupProbe:
  httpGet: {path: /healthz, port: {{ .port }}, scheme: {{ $scheme }}}
  periodSeconds: 2
  timeoutSeconds: 4
  failureThreshold: 90
livenessProbe:
  httpGet: {path: /healthz, port: {{ .port }}, scheme: {{ $scheme }}}
  periodSeconds: 10
  timeoutSeconds: 4
  failureThreshold: 3
readinessProbe:
  httpGet: {path: {{ .path }}, port: {{ .port }}, scheme: {{ $scheme }}}
  periodSeconds: 5
  timeoutSeconds: 4
  failureThreshold: 3
{{- end }}

{{- /* Pods of one component apart from each other, where that is possible. */ -}}
{{- define "rt4chart.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "rt4chart.selector" . | nindent 8 }}
{{- end }}
