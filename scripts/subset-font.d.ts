/** The types that `scripts/fonts.ts` needs of a package without types. */
declare module 'subset-font' {
  type Axis = number | { min: number; max: number }
  type Options = {
    targetFormat: 'woff2' | 'truetype'
    variationAxes: Record<string, Axis>
    keepFeatures: string[]
    noHinting: boolean
  }

  // biome-ignore lint/style/noDefaultExport: it is the package's.
  export default function subset(font: Buffer, text: string, options: Options): Promise<Buffer>
}
