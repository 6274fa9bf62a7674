package nvme

// ControllerAttributes is the field CTRATT of Identify Controller (Figure 313).
type ControllerAttributes uint32

// The attributes that this package asks for.
const (
	AttributeEnduranceGroups ControllerAttributes = 1 << 4
	AttributeUUIDList        ControllerAttributes = 1 << 9
)

// Has reports whether all bits of a are set.
func (c ControllerAttributes) Has(a ControllerAttributes) bool { return c&a == a }

// AdminCommands is the field OACS of Identify Controller (Figure 313): which optional
// admin commands the controller has.
type AdminCommands uint16

// The optional admin commands that this package asks for.
const (
	AdminCommandFormat AdminCommands = 1 << 1
	// AdminCommandNamespaceManagement says that namespaces can be created and attached,
	// and that the controller lists all namespaces and controllers of the subsystem.
	AdminCommandNamespaceManagement AdminCommands = 1 << 3
	AdminCommandDeviceSelfTest      AdminCommands = 1 << 4
)

// Has reports whether all bits of a are set.
func (c AdminCommands) Has(a AdminCommands) bool { return c&a == a }

// LogPageAttributes is the field LPA of Identify Controller (Figure 313).
type LogPageAttributes uint8

// The attributes of log pages that this package asks for.
const (
	LogPagesTelemetry LogPageAttributes = 1 << 3
	// LogPagesSupported says that log page 00h lists the log pages that the controller has.
	LogPagesSupported LogPageAttributes = 1 << 5
	// LogPagesTelemetryArea4 says that telemetry has a fourth data area.
	LogPagesTelemetryArea4 LogPageAttributes = 1 << 6
)

// Has reports whether all bits of a are set.
func (l LogPageAttributes) Has(a LogPageAttributes) bool { return l&a == a }

// OptionalCommands is the field ONCS of Identify Controller (Figure 313): which optional
// commands and command fields the controller has.
type OptionalCommands uint16

// CommandSaveSelect says that Set Features has a save bit and Get Features a
// select field.
const CommandSaveSelect OptionalCommands = 1 << 4

// Has reports whether all bits of a are set.
func (c OptionalCommands) Has(a OptionalCommands) bool { return c&a == a }
