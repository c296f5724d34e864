# sbom.jq makes an SPDX 2.3 document from what the linker wrote into the programs:
#
#     jq -s -f sbom.jq --arg version V --arg created RFC3339 --arg namespace URI
#
# The input is one object for each program, {file, sha256, info}, where info is
# what `go version -m -json` says of it. The output is the same for the same input.
def id: "SPDXRef-" + gsub("[^A-Za-z0-9.]"; "-");
def package($name; $version; $purl):
  {name: $name, SPDXID: ($name + "-" + $version | id), versionInfo: $version,
   downloadLocation: "NOASSERTION", filesAnalyzed: false,
   licenseConcluded: "NOASSERTION", licenseDeclared: "NOASSERTION", copyrightText: "NOASSERTION",
   externalRefs: [{referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: $purl}]};
# A replaced module is what it was replaced by: that is what is linked.
def linked: (.Replace // .) | package(.Path; .Version; "pkg:golang/\(.Path)@\(.Version)")
  + (if .Sum then {sourceInfo: "go.sum: \(.Sum)"} else {} end);
def standard: (.GoVersion | ltrimstr("go")) as $v | package("stdlib"; $v; "pkg:golang/stdlib@\($v)") + {licenseDeclared: "BSD-3-Clause"};
def program: package(.file; $version; "pkg:golang/\(.info.Path)@\($version)")
  + {licenseDeclared: "Apache-2.0", primaryPackagePurpose: "APPLICATION", checksums: [{algorithm: "SHA256", checksumValue: .sha256}]};
def relation($from; $type; $to): {spdxElementId: $from, relationshipType: $type, relatedSpdxElement: $to};
{
  spdxVersion: "SPDX-2.3", dataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT",
  name: "ethos-\($version)", documentNamespace: $namespace,
  creationInfo: {created: $created, creators: ["Tool: ethos-packaging-sbom.jq"]},
  packages: ([.[] | program, (.info | standard, (.Deps // [] | .[] | linked))] | unique_by(.SPDXID)),
  relationships: [.[] | program.SPDXID as $from
    | relation("SPDXRef-DOCUMENT"; "DESCRIBES"; $from),
      (.info | standard, (.Deps // [] | .[] | linked) | relation($from; "DEPENDS_ON"; .SPDXID))]
}
