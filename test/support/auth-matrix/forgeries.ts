import type { WireHeader } from '../wire.ts';

/** What a browser that is not lying would mean by the headers of a request. */
export type Sender =
  /** A page of this instance. */
  | 'own page'
  /** A page of another origin, or headers that no page of this instance could have. */
  | 'other page'
  /** The user: typed address, bookmark. */
  | 'user'
  /** Nothing is said: no browser. */
  | 'nobody says';

/** Headers around a request that are no credential but that a server may be fooled by. */
export interface Forgery {
  readonly name: string;
  readonly sender: Sender;
  readonly headers: readonly WireHeader[];
  /** The Host header; 127.0.0.1 and the port when absent. */
  readonly host?: string;
  /** The Host is none of this instance's. */
  readonly isForeignHost?: true;
  /** Somebody on the way says that it passed the request on. */
  readonly isForwarded?: true;
}

/** Every forgery, and the honest forms beside them, for an instance at 127.0.0.1 and this port. */
export function forgeriesFor(port: number): Forgery[] {
  const own = `http://127.0.0.1:${port}`;
  const ownPage: readonly WireHeader[] = [
    ['Origin', own],
    ['Sec-Fetch-Site', 'same-origin'],
  ];
  return [
    { name: 'nothing', sender: 'nobody says', headers: [] },
    ...origins(own, port),
    ...referers(own),
    ...fetchSites(own),
    ...forwarded(own, ownPage),
    ...hosts(port, ownPage),
    ...routing(),
  ];
}

function origins(own: string, port: number): Forgery[] {
  const foreign = {
    'another site': 'http://evil.com',
    'the own origin as a prefix': `${own}.evil.com`,
    'the own origin as user name': `${own}@evil.com`,
    'the own origin with a path': `${own}/`,
    'the own origin in capitals': own.toUpperCase(),
    'another port': `http://127.0.0.1:${port + 1}`,
    'the default port': 'http://127.0.0.1',
    'another scheme': own.replace('http:', 'https:'),
    'another name of this machine': `http://localhost:${port}`,
    'another address of this machine': `http://[::1]:${port}`,
    null: 'null',
    empty: '',
    'two in one': `${own} http://evil.com`,
    'a file': 'file://',
    'an extension': `chrome-extension://127.0.0.1:${port}`,
  };
  return [
    { name: 'Origin own', sender: 'own page', headers: [['Origin', own]] },
    ...Object.entries(foreign).map(([name, value]) => ({
      name: `Origin: ${name}`,
      sender: 'other page' as const,
      headers: [['Origin', value]] as const,
    })),
    {
      name: 'Origin twice, own first',
      sender: 'other page',
      headers: [
        ['Origin', own],
        ['Origin', 'http://evil.com'],
      ],
    },
    {
      name: 'Origin of another site with the own Referer',
      sender: 'other page',
      headers: [
        ['Origin', 'http://evil.com'],
        ['Referer', `${own}/`],
      ],
    },
  ];
}

function referers(own: string): Forgery[] {
  const foreign = {
    'another site': 'http://evil.com/',
    'the own origin as a prefix': `${own}.evil.com/`,
    'the own origin as user name': `${own}@evil.com/`,
    'the own origin in the query': `http://evil.com/?${own}/`,
    'no URL': '127.0.0.1',
    'a script': `javascript:${own}/`,
    empty: '',
  };
  return [
    { name: 'Referer own', sender: 'own page', headers: [['Referer', `${own}/a?b#c`]] },
    ...Object.entries(foreign).map(([name, value]) => ({
      name: `Referer: ${name}`,
      sender: 'other page' as const,
      headers: [['Referer', value]] as const,
    })),
  ];
}

function fetchSites(own: string): Forgery[] {
  const site = (name: string, value: string, sender: Sender, more: readonly WireHeader[] = []): Forgery => ({
    name: `Sec-Fetch-Site ${name}`,
    sender,
    headers: [['Sec-Fetch-Site', value], ...more],
  });
  return [
    site('none', 'none', 'user'),
    site('same-origin', 'same-origin', 'own page'),
    site('same-site', 'same-site', 'other page'),
    site('cross-site', 'cross-site', 'other page'),
    site('in capitals', 'SAME-ORIGIN', 'other page'),
    site('empty', '', 'other page'),
    site('none, Origin of another site', 'none', 'other page', [['Origin', 'http://evil.com']]),
    site('same-origin, Origin of another site', 'same-origin', 'other page', [['Origin', 'http://evil.com']]),
    site('same-origin, Origin null', 'same-origin', 'other page', [['Origin', 'null']]),
    site('cross-site, Origin own', 'cross-site', 'other page', [['Origin', own]]),
    site('same-origin, Referer of another site', 'same-origin', 'other page', [
      ['Referer', 'http://evil.com/'],
    ]),
  ];
}

function forwarded(own: string, ownPage: readonly WireHeader[]): Forgery[] {
  const lines: readonly WireHeader[] = [
    ['X-Forwarded-For', '127.0.0.1'],
    ['X-Forwarded-For', '::1'],
    ['X-Forwarded-Host', 'localhost'],
    ['X-Forwarded-Proto', 'http'],
    ['X-Real-IP', '127.0.0.1'],
    ['Forwarded', `for=127.0.0.1;host=127.0.0.1;proto=http`],
    ['Via', '1.1 localhost'],
  ];
  const isForwarded = true as const;
  return lines.flatMap((line): Forgery[] => [
    { name: line.join(': '), sender: 'nobody says', headers: [line], isForwarded },
    { name: `${line.join(': ')}, own page`, sender: 'own page', headers: [line, ...ownPage], isForwarded },
    {
      name: `${line.join(': ')}, Origin of another site`,
      sender: 'other page',
      headers: [line, ['Origin', `${own}.evil.com`]],
      isForwarded,
    },
  ]);
}

function hosts(port: number, ownPage: readonly WireHeader[]): Forgery[] {
  const foreign = [
    'evil.com',
    `evil.com:${port}`,
    `127.0.0.1:${port}.evil.com`,
    `127.0.0.1.evil.com:${port}`,
    `127.0.0.1:${port + 1}`,
    '127.0.0.1',
    `127.0.0.1:${port}:${port}`,
    `127.0.0.1:${port}@evil.com`,
    `127.0.0.1:${port}/`,
    `127.0.0.2:${port}`,
    `2130706433:${port}`,
    `0.0.0.0:${port}`,
    `app.localhost:${port}`,
    `localhost.:${port}`,
    'a b',
    '',
  ];
  const isForeignHost = true as const;
  return [
    { name: 'Host evil.com', sender: 'nobody says', headers: [], host: 'evil.com', isForeignHost },
    ...foreign.map((host): Forgery => {
      const page: readonly WireHeader[] = [
        ['Origin', `http://${host}`],
        ['Sec-Fetch-Site', 'same-origin'],
      ];
      return { name: `Host ${host}, a page there`, sender: 'own page', headers: page, host, isForeignHost };
    }),
    {
      name: 'Host twice',
      sender: 'own page',
      headers: [['Host', 'evil.com'], ...ownPage],
      isForeignHost,
    },
    {
      name: 'Host localhost, own page',
      sender: 'own page',
      headers: [['Origin', `http://localhost:${port}`]],
      host: `localhost:${port}`,
    },
    {
      name: 'Host localhost in capitals, user',
      sender: 'user',
      headers: [['Sec-Fetch-Site', 'none']],
      host: `LOCALHOST:${port}`,
    },
    { name: 'Host [::1], page of 127.0.0.1', sender: 'other page', headers: ownPage, host: `[::1]:${port}` },
  ];
}

/** Headers by which some servers let a request say that it is another one. */
function routing(): Forgery[] {
  const lines: readonly WireHeader[] = [
    ['X-HTTP-Method-Override', 'GET'],
    ['X-Original-URL', '/healthz'],
    ['X-Rewrite-URL', '/healthz'],
  ];
  return lines.map((line) => ({ name: line.join(': '), sender: 'nobody says', headers: [line] }));
}
