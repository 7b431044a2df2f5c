#!/bin/sh
# Fetches the files of GraphiQL and React that the page is made of from npm,
# by name and version, and keeps them here compressed, with their licences.
set -eu

graphiql=3.9.0
react=18.3.1

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "graphiql@$graphiql" "react@$react" "react-dom@$react" >/dev/null
for package in "graphiql-$graphiql" "react-$react" "react-dom-$react"; do
	mkdir "$package"
	tar -xzf "$package.tgz" -C "$package" --strip-components 1
done

# keep FILE NAME: without the reference to a source map, which is not served,
# and without embedded fonts, for which the browser's own do.
keep() {
	sed -e '/^\/\/# sourceMappingURL=/d' -e 's/@font-face{[^}]*}//g' "$1" | gzip -9n >"$here/assets/$2.gz"
}
mkdir -p "$here/assets"
keep "graphiql-$graphiql/graphiql.min.js" graphiql.js
keep "graphiql-$graphiql/graphiql.min.css" graphiql.css
keep "react-$react/umd/react.production.min.js" react.js
keep "react-dom-$react/umd/react-dom.production.min.js" react-dom.js

{
	for package in "graphiql-$graphiql" "react-$react" "react-dom-$react"; do
		printf '%s\n\n' "$package"
		cat "$package/LICENSE"
		printf '\n'
	done
} >"$here/assets/LICENSES.txt"
