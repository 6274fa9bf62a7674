package nvme

// ControllerAttributes is the Controller Attributes field, CTRATT (Figure 312).
type ControllerAttributes uint32

// The attributes that this package asks for.
const (
	AttributeEnduranceGroups ControllerAttributes = 1 << 4
	AttributeUUIDList        ControllerAttributes = 1 << 9
)

// Has reports whether all bits of a are set.
func (c ControllerAttributes) Has(a ControllerAttributes) bool { return c&a == a }

// AdminCommands is the Optional Admin Command Support field, OACS (Figure 312).
type AdminCommands uint16

// The optional admin commands that this package asks for.
const (
	AdminCommandNamespaceManagement AdminCommands = 1 << 3
	AdminCommandDeviceSelfTest      AdminCommands = 1 << 4
)

// Has reports whether all bits of a are set.
func (c AdminCommands) Has(a AdminCommands) bool { return c&a == a }

// LogPageAttributes is the Log Page Attributes field, LPA (Figure 312).
type LogPageAttributes uint8

// The log page attributes.
const (
	LogPagesSmartPerNamespace LogPageAttributes = 1 << 0
	LogPagesCommandEffects    LogPageAttributes = 1 << 1
	LogPagesExtendedData      LogPageAttributes = 1 << 2
	LogPagesTelemetry         LogPageAttributes = 1 << 3
	LogPagesPersistentEvents  LogPageAttributes = 1 << 4
	// LogPagesSupported says that log page 00h tells which others there are.
	LogPagesSupported     LogPageAttributes = 1 << 5
	LogPagesTelemetryArea LogPageAttributes = 1 << 6
)

// Has reports whether all bits of a are set.
func (l LogPageAttributes) Has(a LogPageAttributes) bool { return l&a == a }

// OptionalCommands is the Optional NVM Command Support field, ONCS (Figure 312).
type OptionalCommands uint16

// The optional commands that this package asks for.
const (
	// CommandSaveSelect says that Get Features has a select field.
	CommandSaveSelect OptionalCommands = 1 << 4
)

// Has reports whether all bits of a are set.
func (c OptionalCommands) Has(a OptionalCommands) bool { return c&a == a }
