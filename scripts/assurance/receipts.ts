import type { Group } from './row.ts'

export const receipts: Group = {
  title: 'Receipts, proofs and anchors',
  rows: [
    {
      id: 'G1',
      severity: 'C',
      promise:
        'A receipt is signed as typed data of our domain, and no field of it can be changed.',
      tests: [
        ['test/verify/tamper.test.ts', 'a flipped byte'],
        ['test/verify/eip712.test.ts', 'any receipt has the digest that wallets compute'],
      ],
      guards: [
        ['src/verify/receipt.ts', 'receiptDigest'],
        ['src/verify/checks.ts', 'checkDigest'],
      ],
    },
    {
      id: 'G2',
      severity: 'C',
      promise: 'Only a signer that the reader trusts makes a receipt valid.',
      tests: [
        ['test/verify/verify.test.ts', 'an attacker who signs his own receipt is not authorised'],
        ['test/verify/verify.test.ts', 'an empty list authorises nobody'],
      ],
      guards: [
        ['src/verify/checks.ts', 'checkSigner'],
        ['src/proof/receipts/check-receipt.ts', 'trustOf'],
      ],
    },
    {
      id: 'G3',
      severity: 'C',
      promise: 'A private receipt answers like none, and one that is taken back is gone at once.',
      tests: [
        [
          'test/receipts/share.test.ts',
          'private, unknown and malformed ids answer alike, whoever asks',
        ],
        [
          'test/receipts/share.test.ts',
          'unsharing takes effect at once, also for who has a copy with its tag',
        ],
      ],
      guards: [
        ['src/proof/receipts/api.ts', 'receiptsApi'],
        ['src/access/keys/owns.ts', 'owns'],
        ['src/proof/receipts/share.ts', 'shareReceipt'],
      ],
    },
    {
      id: 'G4',
      severity: 'H',
      promise: 'An id cannot be guessed from others. It tells its time, as sortable ids do.',
      tests: [
        [
          'test/kernel/ids.test.ts',
          'ids of one moment share its time and nothing that tells the next',
        ],
      ],
      guards: [['src/kernel/ids.ts', 'makeIds']],
    },
    {
      id: 'G5',
      severity: 'H',
      promise: 'A public receipt reveals no text, key or address, even by guessing.',
      tests: [
        [
          'test/receipts/reveal.test.ts',
          'the public form of a "yes" cannot be found by hashing; its owner can show it',
        ],
        ['test/verify/commitment.test.ts', 'cannot be matched by any hash without it'],
        [
          'test/receipts/share.test.ts',
          'every subset of sections verifies, and hides the others with their salts',
        ],
      ],
      guards: [
        ['src/proof/receipts/receipt.ts', 'makeReceipt'],
        ['src/verify/commitment.ts', 'commit'],
      ],
    },
    {
      id: 'G6',
      severity: 'H',
      promise: 'To verify is bounded, and answers whatever it is given.',
      tests: [
        ['test/verify/verify.test.ts', 'is judged without throwing'],
        ['test/fuzz/parsers.test.ts', 'every reader takes what comes from outside'],
        [
          'test/public/verify.test.ts',
          '413 above a MiB, 400 for a form that is cut, 415 for another kind',
        ],
        ['test/receipts/api.test.ts', 'refuses a body that is not a receipt'],
        [
          'test/terminal/client.test.ts',
          'who checks receipts without a key, or asks by MCP, is counted with them',
        ],
      ],
      guards: [
        ['src/verify/receipt.ts', 'parseReceiptFile'],
        ['src/web/http/keyless.ts', 'keylessGuard'],
      ],
    },
    {
      id: 'G14',
      severity: 'H',
      promise:
        'No verifier accepts a file that another program could show differently: with an unknown ' +
        'member, or with a member that stands twice.',
      tests: [
        ['test/verify/strict.test.ts', 'a receipt file'],
        ['test/verify/strict.test.ts', 'POST /v1/receipts/verify'],
        ['test/verify/strict.test.ts', 'the command line'],
        [
          'test/verify/verify.test.ts',
          'a text beside hidden commitments makes a receipt invalid: it could be any text',
        ],
        [
          'test/browser/verify-page.test.ts',
          'stamps no file to which a member was added, or in which one stands twice',
        ],
        [
          'test/browser/public-pages.test.ts',
          'a file with a member added, or with one that stands twice, is not valid, script %p',
        ],
      ],
      guards: [
        ['src/verify/json-text.ts', 'repeatedMembers'],
        ['src/verify/receipt.ts', 'refuseOthers'],
        ['src/verify/checks.ts', 'checkContent'],
      ],
    },
    {
      id: 'G8',
      severity: 'H',
      promise: 'Receipts and proofs can be verified without our code.',
      tests: [
        [
          'test/verify/independent.test.ts',
          'the receipt of version 1 holds for somebody who has none of our code',
        ],
        [
          'test/contracts/receipt-verifier.test.ts',
          'the domain is the one of our receipts, and the leaf is that of the log',
        ],
        [
          'test/verify/end-to-end.test.ts',
          'in Solidity: the same digest, the same signer, the same path',
        ],
      ],
      guards: [['src/verify/verify.ts', 'verifyReceipt']],
    },
    {
      id: 'G9',
      severity: 'C',
      promise: 'Leaves and nodes cannot pass for each other, and no wrong path proves anything.',
      tests: [
        [
          'test/verify/merkle.test.ts',
          'fails with another index, size, leaf or root, or a path cut, longer or changed',
        ],
        ['test/verify/merkle.test.ts', 'refuses a node where a leaf is due'],
        [
          'test/contracts/rfc6962.test.ts',
          'leaves carry their kind, and no node can pass for a leaf',
        ],
      ],
      guards: [
        ['src/verify/merkle.ts', 'verifyInclusion'],
        ['src/verify/merkle.ts', 'leafHash'],
      ],
    },
    {
      id: 'G10',
      severity: 'H',
      promise: 'Each receipt has one index of the log, which no crash and no second node repeats.',
      tests: [
        [
          'test/db/numbers.test.ts',
          'have no gap and no duplicate when two nodes number and both end runs',
        ],
        [
          'test/binary/frozen-node.test.ts',
          'no index is missing and none is there twice while one is frozen past its lease',
        ],
        ['test/db/append-only.test.ts', 'changes nothing of the log and deletes nothing'],
      ],
      guards: [['src/proof/log/sequence.ts', 'sequencer']],
    },
    {
      id: 'G11',
      severity: 'H',
      promise:
        'An anchor is final when it was read back, and pending again when its block is gone.',
      tests: [
        [
          'test/anchors/worker.test.ts',
          'its head is submitted, confirmed and final, and the proof says so at each step',
        ],
        [
          'test/anchors/faults.test.ts',
          'that a reorganisation took out of the chain goes back to pending, and gets in',
        ],
      ],
      guards: [['src/proof/anchors/follow.ts', 'isReadBack']],
    },
    {
      id: 'G12',
      severity: 'H',
      promise:
        'A head is anchored once, also when the process dies between sending and writing it down.',
      tests: [
        [
          'test/binary/anchor.test.ts',
          'killed between writing a transaction down and sending it, it is sent by the',
        ],
        [
          'test/binary/anchor.test.ts',
          'killed after it was sent, the next start finds it or sends the same bytes: it',
        ],
      ],
      guards: [['src/proof/anchors/transact.ts', 'carry']],
    },
    {
      id: 'G13',
      severity: 'H',
      promise: 'The proof of a private receipt tells hashes and places only.',
      tests: [
        [
          'test/log/proof.test.ts',
          'a proof is open to every origin and tells hashes and places only',
        ],
        [
          'test/log/proof.test.ts',
          'the proof of an unknown receipt is the 404 of every unknown one',
        ],
      ],
      guards: [['src/proof/log/proof.ts', 'proofOf']],
    },
  ],
}
