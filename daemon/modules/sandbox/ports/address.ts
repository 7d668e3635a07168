import { invalid } from '../../../../src/errors/app-error.ts';
import type { Config } from '../../../config/config.ts';
import { hostName } from '../../../http/gate/addresses.ts';
import { remembered } from '../../../http/gate/remembered.ts';

/** The default domain of previews: names under localhost lead to this machine, in browsers and curl, without DNS. */
const LOCAL_DOMAIN = 'preview.localhost';

/** One label: `<port>-<token>`, or the other way round. */
const PORT_FIRST = /^([1-9]\d{0,4})-([a-z2-7]{32})$/;
const TOKEN_FIRST = /^([a-z2-7]{32})-([1-9]\d{0,4})$/;

/** What the first label of a preview host names. */
export interface PreviewLabel {
  readonly port: number;
  readonly token: string;
}

/** The addresses of previews: `<port>-<token>.{preview_host}` (spec, Ports and preview URLs). */
export class PreviewAddresses {
  /** The domain as a URL. A setting that becomes unreadable leaves the one before it in force. */
  private readonly base: () => URL;

  /** `port` is the one that is listened on. Errors: invalid_argument when the setting is no domain. */
  constructor(config: Config, port: () => number) {
    const read = () => readBase(config.get('sandbox.preview_host'), port());
    const first = read();
    if (!first)
      throw invalid({
        field: 'sandbox.preview_host',
        description: 'must be a domain, as previews.example.com',
      });
    let last = first;
    this.base = remembered(() => {
      last = read() ?? last;
      return last;
    }, port);
  }

  /** The port and the token that a Host header names; undefined when it names no preview. */
  read(host: string): PreviewLabel | undefined {
    const name = hostName(host);
    const domain = this.base().hostname;
    if (!name.endsWith(domain) || name.at(-domain.length - 1) !== '.') return undefined;
    const label = name.slice(0, -domain.length - 1);
    const [, port, token] = PORT_FIRST.exec(label) ?? swap(TOKEN_FIRST.exec(label)) ?? [];
    return port && token && Number(port) <= 65_535 ? { port: Number(port), token } : undefined;
  }

  /** The label of a port. */
  label({ port, token }: PreviewLabel): string {
    return `${port}-${token}`;
  }

  /** The address of a port, with a slash at its end. */
  url(label: PreviewLabel): string {
    const { protocol, host } = this.base();
    return `${protocol}//${this.label(label)}.${host}/`;
  }

  /** Whether browsers reach previews over TLS. */
  get isSecure(): boolean {
    return this.base().protocol === 'https:';
  }

  /** Whether previews are at this machine, with nothing between them and the browser. */
  get isLocal(): boolean {
    return this.base().hostname.endsWith('.localhost');
  }
}

/** `sandbox.preview_host` as a URL, with TLS unless it says otherwise or is of this machine; undefined when it is none. */
function readBase(setting: string, port: number): URL | undefined {
  const given = setting.trim().toLowerCase().replace(/\/+$/, '');
  if (given === '') return new URL(`http://${LOCAL_DOMAIN}:${port}`);
  const isLocal = hostName(given).endsWith('.localhost');
  const url = URL.parse(/^https?:\/\//.test(given) ? given : `${isLocal ? 'http' : 'https'}://${given}`);
  const isHost = url?.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  return url && isHost && /[a-z]/.test(url.hostname) ? url : undefined;
}

function swap(match: RegExpExecArray | null): [string, string | undefined, string | undefined] | undefined {
  return match ? [match[0], match[2], match[1]] : undefined;
}
