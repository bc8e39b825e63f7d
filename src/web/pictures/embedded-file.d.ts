/** Files that are imported as such: their paths, inside of the executable. */
declare module '*.wasm' {
  const path: string

  // biome-ignore lint/style/noDefaultExport: Bun gives the path of a file as its default export.
  export { path as default }
}

declare module '*.ttf' {
  const path: string

  // biome-ignore lint/style/noDefaultExport: Bun gives the path of a file as its default export.
  export { path as default }
}
