/** The recipes of docs/clients.md, as they stand there but for the address, the key and the models. */
const page = await Bun.file('docs/clients.md').text()

/** The block behind a marker. */
export function recipe(marker: string): string {
  const [, after] = page.split(`<!-- ci: ${marker} -->\n`)
  const block = /^```\w+\n(.*?)\n```/s.exec(after ?? '')?.[1]
  if (block === undefined) throw new Error(`docs/clients.md has no block marked "ci: ${marker}"`)
  return block
}

export type Filled = { origin: string; secret: string; large: string; small: string }

export const fill = (text: string, { origin, secret, large, small }: Filled): string =>
  text
    .replaceAll('https://gw.example', origin)
    .replaceAll('sk-service-…', secret)
    .replaceAll('acme/large', large)
    .replaceAll('acme/small', small)

/** The markers whose blocks are of a language. */
export const markersOf = (language: string): string[] =>
  [...page.matchAll(/<!-- ci: ([\w -]+) -->\n```(\w+)/g)]
    .filter(([, , of]) => of === language)
    .map(([, marker = '']) => marker)

/** Blocks of a language that no marker stands before, so that no test runs them. */
export const unmarked = (language: string): string[] =>
  [...page.matchAll(new RegExp(`(.*)\n\`\`\`${language}\n(.*?)\n`, 'g'))]
    .filter(([, before = '']) => !before.startsWith('<!-- ci: '))
    .map(([, , line = '']) => line)
