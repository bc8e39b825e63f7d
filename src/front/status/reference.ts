/** Reference entries of the state of the service. */
import * as r from '../../web/reference/entry.ts'
import { aliveShape, statusShape } from './shapes.ts'

const { get } = r.entriesUnder('')

export const statusEntry = get('showStatus', '/v1/status', 'How the server is', {
  about: 'Database, ledger, log, chain, deposits.',
  answers: r.ok('The status.', statusShape),
})

export const probeEntries = [
  get('livez', '/livez', 'Is it alive?', {
    about: 'For supervisors: the process answers.',
    answers: r.ok('It does.', aliveShape),
  }),
  get('readyz', '/readyz', 'Is it ready?', {
    about: 'For supervisors: it takes traffic.',
    answers: r.ok('It does.', aliveShape),
    refuses: ['unavailable'],
  }),
]
