{{- define "c5c3.labels" -}}
app.kubernetes.io/name: c5c3-apiserver
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{- end }}

{{- define "c5c3.selector" -}}
app.kubernetes.io/name: c5c3-apiserver
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "c5c3.certificateSecret" -}}
{{ .Values.certificate.existingSecret | default (printf "%s-serving" .Release.Name) }}
{{- end }}
