/** `bun scripts/config-docs.ts`: writes the table of all settings into docs/configuration.md. */
import { explainSettings } from '../src/config/help.ts'

const page = 'docs/configuration.md'
const mark = '<!-- settings -->'
const [words = ''] = (await Bun.file(page).text()).split(mark)
await Bun.write(page, `${words}${mark}\n\n${explainSettings()}\n`)
