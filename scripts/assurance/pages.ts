import type { Group } from './row.ts'

export const pages: Group = {
  title: 'Pages',
  rows: [
    {
      id: 'C1',
      severity: 'C',
      promise: 'Input of people, models and upstreams is shown as text on every page.',
      tests: [
        ['test/ui/xss.test.tsx', 'a text of somebody stays a text, whatever part shows it'],
        ['test/keys/portal-pages.test.ts', 'are shown as text on every page of keys'],
        ['test/browser/console.test.ts', 'a model’s output is text, whatever it says (script: %p)'],
        [
          'test/browser/console-parts.test.ts',
          'what a hostile model reasons, calls and draws is text (script: %p)',
        ],
        ['test/usage/portal-edges.test.ts', 'payloads in names of keys, models and tags are text'],
      ],
      guards: [['src/web/ui/jsx-runtime.ts', 'renderChild']],
    },
    {
      id: 'C2',
      severity: 'H',
      promise: 'HTML is made in one place, which escapes everything.',
      tests: [
        [
          'test/ui/jsx-runtime.test.tsx',
          'HTML is made in one place, and no element takes attribute names from data',
        ],
        [
          'test/ui/jsx-runtime.test.tsx',
          'text is escaped in elements, components, fragments and lists',
        ],
      ],
      guards: [['src/web/ui/jsx-runtime.ts', 'renderChild']],
    },
    {
      id: 'C3',
      severity: 'H',
      promise: 'An address from data leads only where a link may lead.',
      tests: [
        ['test/ui/jsx-runtime.test.tsx', '%p goes nowhere'],
        ['test/ui/jsx-runtime.test.tsx', 'code in an hx attribute is a fault'],
      ],
      guards: [['src/web/ui/safe-url.ts', 'isSafeUrl']],
    },
    {
      id: 'C4',
      severity: 'H',
      promise: 'Every page has the strict content policy, and breaks it nowhere.',
      tests: [
        ['test/ui/doors.test.ts', 'whole to a browser, with the CSP and never stored'],
        ['test/browser/sign-in-by-hand.test.ts', 'the sign-in: %j'],
        ['test/browser/keys.test.ts', 'the page %s has no fault'],
        ['test/browser/explorer.test.ts', 'the page: %#'],
      ],
      guards: [['src/web/http/standing-headers.ts', 'standing']],
    },
    {
      id: 'C10',
      severity: 'H',
      promise: 'A path is decoded once and checked: none of its bytes causes a 500.',
      tests: [
        [
          'test/http/root.test.ts',
          '404 for a path that cannot be decoded, so no parameter is ever null',
        ],
        ['test/fuzz/routes.test.ts', 'every route, whatever is sent to it'],
        ['test/passports/rules.test.ts', 'a handle'],
        [
          'test/receipts/share.test.ts',
          'private, unknown and malformed ids answer alike, whoever asks',
        ],
      ],
      guards: [
        ['src/web/http/root.ts', 'hasReadablePath'],
        ['src/proof/passports/handle.ts', 'isHandle'],
      ],
    },
    {
      id: 'C11',
      severity: 'H',
      promise: 'Only what is embedded is served as a file.',
      tests: [['test/ui/doors.test.ts', '%s is nothing']],
      guards: [['src/web/http/assets.ts', 'byPath']],
    },
    {
      id: 'C12',
      severity: 'C',
      promise: "Only an operator's session reaches the operator's routes; keys never do.",
      tests: [
        ['test/admin/doors.test.ts', '404: to everybody else they are not there'],
        ['test/admin/doors.test.ts', 'nothing that a client sends makes an admin of it'],
        [
          'test/admin/doors.test.ts',
          '403 csrf_failed from a page of another origin, and nothing is done',
        ],
        ['test/metrics/metrics.test.ts', 'is another than that of the API, which answers 404'],
      ],
      guards: [
        ['src/front/admin/needs-admin.ts', 'adminAuth'],
        ['src/app/serve-metrics.ts', 'serveMetrics'],
      ],
    },
    {
      id: 'C15',
      severity: 'H',
      promise: 'Every page keeps the rules of WCAG 2.2 AA, the size of targets among them.',
      tests: [
        [
          'test/browser/axe.test.ts',
          'find links of 18 px one below the other, which WCAG 2.2 AA forbids',
        ],
        ['test/browser/docs.test.ts', 'the reference, in a real browser'],
        ['test/browser/verify-page.test.ts', 'stamps no file to which'],
      ],
      guards: [['src/front/reference/pages/aside.tsx', 'DocsAside']],
    },
    {
      id: 'C17',
      severity: 'C',
      promise: 'Only the browser that checked a receipt stamps it; the server never says Verified.',
      tests: [
        ['test/browser/stamp.test.ts', 'no page of the server says Verified'],
        [
          'test/browser/stamp.test.ts',
          'with script the checks tick one by one, and then the stamp lands once',
        ],
        [
          'test/browser/stamp.test.ts',
          'a receipt whose stored signature was changed is never stamped',
        ],
      ],
      guards: [
        ['src/web/ui/slip.tsx', 'ServerWord'],
        ['src/browser/judge-page.ts', 'judgePage'],
      ],
    },
    {
      id: 'C14',
      severity: 'H',
      promise: 'A secret once shown is in no address, title, history or store of the browser.',
      tests: [
        [
          'test/browser/keys.test.ts',
          'the keyboard alone creates a key, copies it and is done; it is nowhere',
        ],
        [
          'test/browser/keys.test.ts',
          'without script: a reload neither shows the secret again nor makes another key',
        ],
      ],
      guards: [['src/access/keys/portal/create-key.ts', 'createKey']],
    },
    {
      id: 'C16',
      severity: 'H',
      promise: 'An image of an answer is shown only if it is in its URL; no page fetches one.',
      tests: [
        ['test/console/said.test.ts', 'an image is shown only if it is in its URL'],
        [
          'test/browser/console-parts.test.ts',
          'what a hostile model reasons, calls and draws is text (script: %p)',
        ],
      ],
      guards: [['src/front/console/said.ts', 'isRaster']],
    },
    {
      id: 'C18',
      severity: 'H',
      promise: 'A link picture shows nothing that an owner hides; a private receipt has none.',
      tests: [
        [
          'test/public/pictures.test.ts',
          'of a private receipt are what those of an unknown one are, also after it was shared',
        ],
        ['test/public/pictures.test.ts', 'show nothing that the owner hides, and never who paid'],
      ],
      guards: [['src/proof/receipts/api/receipt-picture.ts', 'receiptPictureApi']],
    },
    {
      id: 'C19',
      severity: 'H',
      promise: 'Open lists show what is new and move states on by themselves, without a jump.',
      tests: [
        ['test/browser/live.test.ts', 'new %s land by themselves, and wait while the list is read'],
        [
          'test/browser/live.test.ts',
          'more than fifty new %s between two looks are counted and loaded in place',
        ],
        [
          'test/browser/live.test.ts',
          'states move on by themselves, from logged to anchored to final',
        ],
      ],
      guards: [
        ['src/runs/api/follow-rows.ts', 'followRows'],
        ['src/web/ui/live-list.tsx', 'LiveList'],
      ],
    },
    {
      id: 'C20',
      severity: 'H',
      promise: 'Without script every task but the wallet’s signature can be done.',
      tests: [
        [
          'test/browser/sign-in-by-hand.test.ts',
          'without script a pasted signature signs in, and a button signs out',
        ],
        [
          'test/browser/keys.test.ts',
          'without script: a reload neither shows the secret again nor makes another key',
        ],
        [
          'test/browser/console.test.ts',
          'without script a form and a page do all of it, turn by turn',
        ],
        [
          'test/browser/deposits.test.ts',
          'without script an amount is put into the code, and another wallet’s deposit is claimed',
        ],
        [
          'test/browser/docs.test.ts',
          'the search without script is a page of its own, which can be linked',
        ],
      ],
      guards: [['src/web/ui/reply.ts', 'reply']],
    },
    {
      id: 'C21',
      severity: 'C',
      promise: 'A page that is loaded again sends no form: no second key, plan, run or charge.',
      tests: [
        [
          'test/browser/reload.test.ts',
          'after every form the address is a page of the dashboard, and a reload sends nothing',
        ],
        [
          'test/console/kept-page.test.ts',
          'that is sent twice from one form is asked and charged once',
        ],
        [
          'test/console/kept-page.test.ts',
          'is answered at an address that is loaded again without another run',
        ],
      ],
      guards: [
        ['src/web/ui/reply.ts', 'navigates'],
        ['src/front/console/api/kept-page.ts', 'answerForm'],
      ],
    },
  ],
}
