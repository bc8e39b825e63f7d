import type { Row } from './row.ts'

/** Promises about upstreams that sign their answers. */
export const attested: readonly Row[] = [
  {
    id: 'E24',
    severity: 'C',
    promise:
      'Evidence of an upstream counts only if a pinned key signed the very bytes that were sent ' +
      'and received; a lying, failing or slow upstream costs a run neither time nor money.',
    tests: [
      ['test/attested/collect.test.ts', 'An answer that the pinned key signed is attested: %p'],
      ['test/attested/collect.test.ts', 'An upstream that serves %s is refused at once: %s.'],
      ['test/attested/collect.test.ts', 'Half an hour of %d ends in the state "none": %s.'],
      ['test/attested/collect.test.ts', 'Evidence costs nothing, and holds nothing back.'],
      ['test/upstream/noted-answer.test.ts', 'A stream is hashed to its very end: %s.'],
    ],
    guards: [
      ['src/proof/attested/collect-evidence.ts', 'judge'],
      ['src/models/upstream/noted-answer.ts', 'noteExchange'],
      ['src/models/upstream/upstream-evidence.ts', 'evidenceSource'],
    ],
  },
  {
    id: 'E25',
    severity: 'H',
    promise:
      'Evidence that waits outlives a restart, is asked for by one of several nodes, and is ' +
      'logged once.',
    tests: [
      ['test/attested/restart.test.ts', 'A process that dies between a run and its evidence'],
      ['test/attested/restart.test.ts', 'A stream whose last bytes were on their way is lost'],
      ['test/attested/restart.test.ts', 'Of two nodes on %s one asks, and each run is logged'],
    ],
    guards: [
      ['src/proof/attested/exchange-rows.ts', 'exchangeRow'],
      ['src/proof/attested/store.ts', 'upstreamEvidenceStore'],
    ],
  },
  {
    id: 'E26',
    severity: 'C',
    promise:
      'The plain hash of a request is shown to others only where the request is, and goes when ' +
      'the texts of its receipt are erased.',
    tests: [
      ['test/attested/evidence.test.ts', 'Of a private receipt nobody else learns anything'],
      ['test/attested/evidence.test.ts', 'A shared receipt shows it where its run and its input'],
      ['test/attested/evidence.test.ts', 'Erasing deletes the hashes; the leaf and the receipt'],
      ['test/attested/evidence.test.ts', 'What is erased while the upstream is asked is not'],
    ],
    guards: [
      ['src/proof/attested/known-evidence.ts', 'isEvidenceShared'],
      ['src/proof/attested/store/forget-evidence.ts', 'forgetEvidence'],
    ],
  },
  {
    id: 'E27',
    severity: 'C',
    promise:
      'Evidence is checked offline, from files: another receipt, exchange, key, document or leaf ' +
      'is found, and the key of the operator alone decides nothing.',
    tests: [
      ['test/verify/upstream-evidence.test.ts', 'A logged lie about %s is found.'],
      ['test/verify/upstream-evidence.test.ts', 'A changed document, index, path or root does'],
      ['test/verify/upstream-evidence.test.ts', 'Without a named key it is undecided'],
      ['test/attested/evidence.test.ts', 'counterfoil verify checks it offline; any changed byte'],
    ],
    guards: [
      ['src/verify/upstream-evidence.ts', 'evidenceCheck'],
      ['src/verify/evidence-schemes.ts', 'schemeOf'],
    ],
  },
]
