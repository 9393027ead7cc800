# Makes the image of servebench where there is docker and no Go:
#
#     docker build -t servebench .
#     docker run --rm --network host servebench run --base-url http://127.0.0.1:8000
#
# The image has the program and nothing that it needs, so certificate authorities are in
# the program. make release makes an image of the same kind without docker.
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN make build && \
    install -D bin/servebench /image/usr/bin/servebench && \
    install -D -m 644 -t /image/usr/share/doc/servebench LICENSE README.md CHANGELOG.md THIRD_PARTY_NOTICES && \
    install -d -m 1777 /image/tmp /image/work

FROM scratch
COPY --from=build /image/ /
ENV PATH=/usr/bin
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["servebench"]
