/** `bun scripts/config-docs.ts`: writes the tables of settings and providers into their pages. */
import { explainSettings } from '../src/config/help.ts'
import { providerTable } from '../src/models/providers/provider-table.ts'

const page = 'docs/configuration.md'
const mark = '<!-- settings -->'
const [words = ''] = (await Bun.file(page).text()).split(mark)
await Bun.write(page, `${words}${mark}\n\n${explainSettings()}\n`)

const providersPage = 'docs/providers.md'
const providersMark = '<!-- providers -->'
const [before = ''] = (await Bun.file(providersPage).text()).split(providersMark)
await Bun.write(providersPage, `${before}${providersMark}\n\n${providerTable()}\n`)
