/** A file that is imported as one: its path, inside of the executable. */
declare module '*.tiktoken' {
  const path: string

  // biome-ignore lint/style/noDefaultExport: Bun gives the path of a file as its default export.
  export { path as default }
}
