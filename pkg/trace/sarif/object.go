package sarif

import "ethos/pkg/record"

// The objects of SARIF 2.1.0 used here. Field comments give the section of the standard if it is
// not obvious.
type (
	message struct {
		Text string `json:"text"`
	}
	multiformat struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	artifactLocation struct {
		URI         string   `json:"uri,omitempty"`
		URIBaseID   string   `json:"uriBaseId,omitempty"`
		Index       *int     `json:"index,omitempty"`
		Description *message `json:"description,omitempty"`
	}
	region struct {
		StartLine   int      `json:"startLine,omitempty"`
		StartColumn int      `json:"startColumn,omitempty"`
		EndLine     int      `json:"endLine,omitempty"`
		EndColumn   int      `json:"endColumn,omitempty"`
		Snippet     *content `json:"snippet,omitempty"`
	}
	content struct {
		Text string `json:"text"`
	}
	physicalLocation struct {
		ArtifactLocation artifactLocation `json:"artifactLocation"`
		Region           *region          `json:"region,omitempty"`
	}
	location struct {
		PhysicalLocation physicalLocation `json:"physicalLocation"`
		Message          *message         `json:"message,omitempty"`
	}
	artifact struct { // 3.24
		Location       artifactLocation `json:"location"`
		Length         int              `json:"length"`
		Roles          []string         `json:"roles,omitempty"`
		MimeType       string           `json:"mimeType,omitempty"`
		Contents       content          `json:"contents"`
		SourceLanguage string           `json:"sourceLanguage,omitempty"`
	}
	configuration struct {
		Level string `json:"level"`
	}
	rule struct { // 3.49
		ID                   string         `json:"id"`
		Name                 string         `json:"name,omitempty"`
		ShortDescription     *multiformat   `json:"shortDescription,omitempty"`
		FullDescription      *multiformat   `json:"fullDescription,omitempty"`
		HelpURI              string         `json:"helpUri,omitempty"`
		Help                 *multiformat   `json:"help,omitempty"`
		DefaultConfiguration *configuration `json:"defaultConfiguration,omitempty"`
		Properties           map[string]any `json:"properties,omitempty"`
	}
	driver struct {
		Name     string  `json:"name"`
		FullName string  `json:"fullName,omitempty"`
		Version  string  `json:"version,omitempty"`
		Rules    []*rule `json:"rules"`
	}
	tool struct {
		Driver driver `json:"driver"`
	}
	ruleReference struct { // 3.52
		ID    string `json:"id,omitempty"`
		Index *int   `json:"index,omitempty"`
	}
	notification struct { // 3.58
		Descriptor     *ruleReference `json:"descriptor,omitempty"`
		AssociatedRule *ruleReference `json:"associatedRule,omitempty"`
		Locations      []location     `json:"locations,omitempty"`
		Message        message        `json:"message"`
		Level          string         `json:"level"`
		TimeUTC        string         `json:"timeUtc,omitempty"`
	}
	invocation struct { // 3.20
		CommandLine                string               `json:"commandLine,omitempty"`
		Arguments                  []string             `json:"arguments,omitempty"`
		StartTimeUTC               string               `json:"startTimeUtc,omitempty"`
		EndTimeUTC                 string               `json:"endTimeUtc,omitempty"`
		ExitCode                   *int                 `json:"exitCode,omitempty"`
		ExitCodeDescription        string               `json:"exitCodeDescription,omitempty"`
		ExitSignalName             string               `json:"exitSignalName,omitempty"`
		ProcessStartFailureMessage string               `json:"processStartFailureMessage,omitempty"`
		ExecutionSuccessful        bool                 `json:"executionSuccessful"`
		WorkingDirectory           *artifactLocation    `json:"workingDirectory,omitempty"`
		ToolExecutionNotifications []notification       `json:"toolExecutionNotifications,omitempty"`
		Properties                 invocationProperties `json:"properties"`
	}
	invocationProperties struct {
		ID         string          `json:"id,omitempty"` // of the action
		Outcome    string          `json:"outcome"`
		Mode       string          `json:"mode,omitempty"`
		Agent      string          `json:"agent,omitempty"`
		DurationMS float64         `json:"duration_ms,omitempty"`
		Sandbox    *record.Sandbox `json:"sandbox,omitempty"`
	}
	provenance struct { // 3.48
		InvocationIndex int `json:"invocationIndex"`
	}
	result struct { // 3.27
		RuleID              string            `json:"ruleId"`
		RuleIndex           *int              `json:"ruleIndex,omitempty"`
		Level               string            `json:"level"`
		Message             message           `json:"message"`
		Locations           []location        `json:"locations"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
		BaselineState       string            `json:"baselineState,omitempty"`
		Provenance          *provenance       `json:"provenance,omitempty"`
		Properties          map[string]any    `json:"properties,omitempty"`
	}
	versionControl struct { // 3.23
		RepositoryURI string            `json:"repositoryUri"`
		RevisionID    string            `json:"revisionId,omitempty"`
		Branch        string            `json:"branch,omitempty"`
		MappedTo      *artifactLocation `json:"mappedTo,omitempty"`
	}
	automation struct { // 3.17
		ID          string   `json:"id"`
		GUID        string   `json:"guid"`
		Description *message `json:"description,omitempty"`
	}
	conversion struct {
		Tool tool `json:"tool"`
	}
	runProperties struct {
		Actions int             `json:"actions"`
		Sandbox *record.Sandbox `json:"sandbox,omitempty"`
	}
)
