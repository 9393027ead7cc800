# The table of faults, docs/faults.md. Its program is a module of its own, for toxiproxy.
.PHONY: faults faults-check
# Tries each row and writes the page, within two minutes.
faults:
	cd tools/faults && $(GO) run .
# Tries each row again. FAULTS=-complete fails where nginx or haproxy is missing, instead of skipping its rows.
faults-check:
	cd tools/faults && $(GO) vet ./... && $(GO) test -timeout 10m -count=1 -parallel 4 ./... $(FAULTS)
