package nvme

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fuzzPage fuzzes the decoder of a structure of a fixed size: shorter pages are ErrUnexpectedEOF,
// bytes beyond the structure change nothing, and nothing panics.
func fuzzPage[T any](f *testing.F, size int, decode func([]byte) (T, error), seeds ...[]byte) {
	f.Helper()
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decode(b)
		if len(b) < size {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			return
		}
		again, againErr := decode(b[:size])
		assert.Equal(t, err == nil, againErr == nil)
		assert.Equal(t, got, again)
	})
}

func FuzzDecodeController(f *testing.F) {
	fuzzPage(f, identifyBytes, DecodeController, captured(f, "identify-controller"))
}

func FuzzDecodeNamespace(f *testing.F) {
	fuzzPage(f, identifyBytes, func(b []byte) (Namespace, error) {
		n, err := DecodeNamespace(b)
		if err == nil {
			_ = n.SizeBytes().String()
		}
		return n, err
	}, captured(f, "identify-namespace"))
}

func FuzzDecodeNamespaceList(f *testing.F) {
	fuzzPage(f, identifyBytes, func(b []byte) ([]uint32, error) {
		return DecodeNamespaceList(b, 0)
	}, captured(f, "active-namespaces"))
}

func FuzzDecodeControllerList(f *testing.F) {
	fuzzPage(f, identifyBytes, DecodeControllerList, append([]byte{2, 0, 1, 0, 7}, make([]byte, identifyBytes-5)...))
}

func FuzzDecodeNamespaceIdentifiers(f *testing.F) {
	fuzzPage(f, identifyBytes, DecodeNamespaceIdentifiers,
		captured(f, "namespace-identifiers"), built(f, "namespace-identifiers"))
}

func FuzzDecodeUUIDs(f *testing.F) {
	fuzzPage(f, identifyBytes, DecodeUUIDs, built(f, "uuids"))
}

func FuzzDecodeSMART(f *testing.F) {
	fuzzPage(f, smartBytes, DecodeSMART, captured(f, "smart"), built(f, "smart"))
}

func FuzzDecodeFirmwareSlots(f *testing.F) {
	fuzzPage(f, firmwareSlotsBytes, DecodeFirmwareSlots, captured(f, "firmware-slot"))
}

func FuzzDecodeSelfTests(f *testing.F) {
	fuzzPage(f, selfTestsBytes, DecodeSelfTests, built(f, "self-tests"))
}

func FuzzDecodeEnduranceGroup(f *testing.F) {
	fuzzPage(f, enduranceGroupBytes, DecodeEnduranceGroup, built(f, "endurance-group"))
}

func FuzzDecodeOCPSMART(f *testing.F) {
	fuzzPage(f, ocpSMARTBytes, DecodeOCPSMART, built(f, "ocp-smart"))
}

func FuzzDecodeTelemetryHeader(f *testing.F) {
	fuzzPage(f, telemetryHeaderBytes, DecodeTelemetryHeader, built(f, "telemetry"))
}

func FuzzDecodeSupportedLogPages(f *testing.F) {
	fuzzPage(f, supportedLogPagesBytes, DecodeSupportedLogPages, built(f, "supported-log-pages"))
}

func FuzzDecodeAutonomousPower(f *testing.F) {
	fuzzPage(f, autonomousPowerBytes, DecodeAutonomousPower, built(f, "autonomous-power"))
}

func FuzzDecodeErrorLog(f *testing.F) {
	f.Add(captured(f, "error-information"))
	f.Add(built(f, "error-information"))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := DecodeErrorLog(b)
		if len(b)%errorEntryBytes != 0 {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			return
		}
		require.NoError(t, err)
		assert.LessOrEqual(t, len(entries), len(b)/errorEntryBytes)
		for _, e := range entries {
			assert.NotZero(t, e.Count)
		}
	})
}
