# shellcheck shell=bash
# The page, packages/web/dist, as torpord serves it, and in docs/ of it the documents.

ensure_page() {
  local built=packages/web/dist/index.html
  if [ -e "$built" ] && [ -z "$(find packages/web packages/contract/src sdks/typescript/src/session-protocol.ts examples/count.py package-lock.json \
    \( -path packages/web/dist -o -name node_modules \) -prune -o -type f ! -name '*.test.ts' ! -name '*.test.tsx' -newer "$built" -print -quit)" ]; then
    ensure_documents
    return
  fi
  say "Building the page (its sources are newer than $built)"
  # Beside the old one, which a daemon may be serving, and then in its place.
  local fresh=dist.$$
  (cd packages/web && ../../scripts/node ../../node_modules/vite/bin/vite.js build --logLevel error --outDir "$fresh" --emptyOutDir >&2) ||
    fail "building the page failed, see above"
  build_documents "packages/web/$fresh/docs"
  rm -rf packages/web/dist.old
  [ ! -e packages/web/dist ] || mv packages/web/dist packages/web/dist.old
  mv "packages/web/$fresh" packages/web/dist
  rm -rf packages/web/dist.old
  # Two files at once may carry the same time as a source.
  touch "$built"
}

# They change oftener than the page, and take a second.
ensure_documents() {
  local documents=packages/web/dist/docs
  if [ -e "$documents/index.html" ] && [ -z "$(find docs scripts/docs -type f -newer "$documents/index.html" -print -quit)" ]; then
    return
  fi
  say "Building the documents (their sources are newer than $documents)"
  build_documents "$documents.$$"
  rm -rf "$documents"
  mv "$documents.$$" "$documents"
}

build_documents() {
  scripts/node scripts/docs/main.ts "$1" >&2 || fail "building the documents failed, see above"
  # Its time is that of all.
  touch "$1/index.html"
}
