package code

import "strings"

// languages are the extensions of each language, and of what is no text.
func languages() map[string]string {
	return map[string]string{
		"go": "go", "java": "java", "kotlin": "kt kts", "scala": "scala sc", "groovy": "groovy gradle", "clojure": "clj cljs cljc edn",
		"javascript": "js mjs cjs jsx", "typescript": "ts mts cts tsx", "vue": "vue", "svelte": "svelte", "astro": "astro",
		"python": "py pyi pyw", "ruby": "rb rake gemspec erb", "php": "php phtml", "perl": "pl pm", "lua": "lua", "r": "r", "julia": "jl",
		"rust": "rs", "c": "c h", "cpp": "cc cpp cxx hh hpp hxx", "csharp": "cs", "fsharp": "fs fsx", "visualbasic": "vb", "swift": "swift", "objective-c": "m mm", "zig": "zig", "nim": "nim", "d": "d",
		"haskell": "hs lhs", "ocaml": "ml mli", "elixir": "ex exs", "erlang": "erl hrl", "dart": "dart", "elm": "elm", "solidity": "sol",
		"shell": "sh bash zsh fish", "powershell": "ps1 psm1", "batch": "bat cmd", "sql": "sql", "graphql": "graphql gql", "protobuf": "proto", "thrift": "thrift", "avro": "avsc avdl",
		"terraform": "tf tfvars", "hcl": "hcl", "rego": "rego", "cue": "cue", "jsonnet": "jsonnet libsonnet", "starlark": "bzl star", "nix": "nix", "just": "just", "make": "mk", "cmake": "cmake",
		"html": "html htm", "css": "css", "scss": "scss sass less", "template": "tmpl tpl gotmpl hbs mustache ejs j2 jinja",
		"yaml": "yaml yml", "json": "json json5 jsonc ndjson", "toml": "toml", "ini": "ini cfg conf", "xml": "xml xsd wsdl pom", "properties": "properties", "csv": "csv tsv", "dotenv": "env",
		"markdown": "md mdx markdown", "text": "txt", "restructuredtext": "rst", "asciidoc": "adoc asciidoc",
		"binary": "png jpg jpeg gif ico icns bmp webp avif tif tiff psd svg pdf doc docx xls xlsx ppt pptx odt ods zip gz tgz bz2 xz zst 7z rar tar jar war ear class so dylib dll exe a o obj lib wasm bin dat db sqlite sqlite3 " +
			"mp3 mp4 m4a mov avi mkv webm wav ogg flac ttf otf woff woff2 eot pyc pyo whl egg deb rpm apk ipa iso dmg parquet orc avro pkl npy npz h5 onnx pt pb lock keystore jks p12 pfx der crt cer pem key gpg asc sig",
	}
}

// languageByExtension is the language of an extension, "" if it is none's.
func languageByExtension(ext string) string {
	if ext == "" {
		return ""
	}
	return byExtension[ext]
}

// byExtension is languages turned round.
var byExtension = func() map[string]string {
	out := map[string]string{}
	for language, extensions := range languages() {
		for ext := range strings.FieldsSeq(extensions) {
			out[ext] = language
		}
	}
	return out
}()
