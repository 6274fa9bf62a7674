package nvme

// SupportedLogPages says which log pages a controller has: the Supported Log Pages log, log
// identifier 00h (Figures 204 and 205).
type SupportedLogPages [256]bool

// Has reports whether the controller has the page.
func (s *SupportedLogPages) Has(page LogPage) bool { return s[page] }

const supportedLogPagesBytes = 1024

// SupportedLogPages reads which log pages the controller has (LPA bit 5).
func (d *Device) SupportedLogPages() (SupportedLogPages, error) {
	c, err := d.supports()
	if err != nil {
		return SupportedLogPages{}, err
	}
	if !c.LogPages.Has(LogPagesSupported) {
		return SupportedLogPages{}, unsupported(LogSupportedPages.String())
	}
	data, err := d.readLog(LogPageRequest{Page: LogSupportedPages, Bytes: supportedLogPagesBytes})
	if err != nil {
		return SupportedLogPages{}, err
	}
	pages, err := DecodeSupportedLogPages(data)
	if err != nil {
		return SupportedLogPages{}, err
	}
	d.logPages = &pages
	return pages, nil
}

// DecodeSupportedLogPages decodes the 1024 bytes of log page 00h. It holds a LID Supported and
// Effects data structure for each page, whose bit 0 says that the controller has the page.
func DecodeSupportedLogPages(b []byte) (SupportedLogPages, error) {
	p, err := pageOf(LogSupportedPages.String(), b, supportedLogPagesBytes)
	if err != nil {
		return SupportedLogPages{}, err
	}
	var pages SupportedLogPages
	for id := range pages {
		pages[id] = p[4*id]&1 != 0
	}
	return pages, nil
}
