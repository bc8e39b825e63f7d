import type { Group } from './row.ts'

export const signer: Group = {
  title: 'The signer',
  rows: [
    {
      id: 'H1',
      severity: 'C',
      promise: "The signer's key is in its file or the environment and is printed nowhere.",
      tests: [
        ['test/signer/signer.test.ts', 'the key cannot be printed'],
        [
          'test/binary/signer.test.ts',
          'the key of the environment signs, and is not in it any more',
        ],
        [
          'test/binary/anchor.test.ts',
          'nothing that was printed holds a key or the path of the RPC server',
        ],
        [
          'test/binary/upkeep.test.ts',
          'a backup is one file for its owner, without a key, and never over another',
        ],
      ],
      guards: [
        ['src/proof/signer/signer.ts', 'makeSigner'],
        ['src/proof/signer/key-file.ts', 'writeKeyFile'],
      ],
    },
    {
      id: 'H2',
      severity: 'H',
      promise: 'A key file that others can read stops the start.',
      tests: [['test/signer/signer.test.ts', 'of mode %o stops the start']],
      guards: [['src/proof/signer/key-file.ts', 'readSecretFile']],
    },
    {
      id: 'H6',
      severity: 'H',
      promise: "A receipt is signed after the ledger's commit, and again gives the same bytes.",
      tests: [
        ['test/signer/signer.test.ts', 'is the known answer of RFC 6979'],
        ['test/receipts/api.test.ts', 'returns the same bytes at every read'],
        [
          'test/runs/stranded.test.ts',
          'goes with the next try to settle, uncharged and with a receipt',
        ],
      ],
      guards: [['src/proof/receipts/sign.ts', 'signed']],
    },
  ],
}
