import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../../daemon/app.ts';
import { Audit } from '../../daemon/audit/audit.ts';
import { Bus } from '../../daemon/bus/bus.ts';
import { Config } from '../../daemon/config/config.ts';
import { openDatabase } from '../../daemon/db/open.ts';
import { createGate, type Gate } from '../../daemon/http/gate.ts';
import type { Call, Caller } from '../../daemon/http/route.ts';
import { Jobs } from '../../daemon/jobs/queue.ts';
import { createLog } from '../../daemon/log/log.ts';
import type { Mail, Mailer } from '../../daemon/mail/mailer.ts';
import { createAuthModule } from '../../daemon/modules/auth/index.ts';
import { createOutbound } from '../../daemon/outbound/outbound.ts';
import { Secrets } from '../../daemon/secrets/secrets.ts';
import { migrations } from '../../migrations/index.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { AppError } from '../../src/errors/app-error.ts';

/** What a request of a test carries. */
export interface Ask {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly peer?: string;
}

/** What came back. */
export interface Reply {
  // biome-ignore lint/suspicious/noExplicitAny: answers of many operations, looked into by tests.
  readonly body: any;
  readonly headers: Headers;
  /** The value of the session cookie that was set. */
  readonly cookie: string | undefined;
  readonly response: Response | undefined;
}

/** The auth module over a real database, a clock that is moved by hand, and a log that is kept. */
export class AuthScene {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'svc-auth-'));
  readonly clock = { ms: Date.parse('2026-11-21T12:00:00Z'), now: () => this.clock.ms };
  readonly logged: string[] = [];
  readonly mails: Mail[] = [];
  app: App;
  readonly mailer: Mailer;
  auth: ReturnType<typeof createAuthModule>;
  gate: Gate;

  constructor(
    readonly settings: Readonly<Record<string, unknown>> = {},
    private readonly options: { readonly mail?: boolean } = {},
  ) {
    const config = new Config({ flags: { 'data.dir': this.dataDir, ...settings }, env: {} });
    const log = createLog({ level: 'debug', format: 'json', write: (line) => void this.logged.push(line) });
    const db = openDatabase(':memory:', migrations);
    const { clock } = this;
    this.app = {
      config,
      db,
      clock,
      log,
      bus: new Bus(log),
      jobs: new Jobs(db, clock, log),
      secrets: new Secrets(Buffer.alloc(32, 7)),
      audit: new Audit(db, clock),
      outbound: createOutbound(config, log),
    };
    this.mailer = {
      isConfigured: this.options.mail === true,
      send: async (mail) => void this.mails.push(mail),
    };
    this.auth = createAuthModule(this.app, { mailer: this.mailer });
    this.gate = this.createGate();
  }

  /** Makes the module again over the same database, as a restart does; other settings may hold then. */
  restart(settings: Readonly<Record<string, unknown>> = {}): void {
    const flags = { 'data.dir': this.dataDir, ...this.settings, ...settings };
    this.app = { ...this.app, config: new Config({ flags, env: {} }) };
    this.auth = createAuthModule(this.app, { mailer: this.mailer });
    this.gate = this.createGate();
  }

  /** Sends a request through the gate to the handler. Throws what they throw. */
  async ask(endpoint: Endpoint, ask: Ask = {}): Promise<Reply> {
    const request = new Request(`http://localhost:8089${endpoint.path}`, {
      method: ask.method ?? endpoint.method,
      headers: { host: 'localhost:8089', ...ask.headers },
    });
    const peer = ask.peer ?? '127.0.0.1';
    const caller = await this.gate.admit(request, endpoint, { address: peer, port: 40_000 });
    return this.handle(endpoint, caller, request, { ...ask, peer });
  }

  /** Calls a handler as somebody, without the gate. */
  askAs(caller: Caller, endpoint: Endpoint, ask: Ask = {}): Promise<Reply> {
    const request = new Request(`http://localhost:8089${endpoint.path}`, { headers: ask.headers });
    return this.handle(endpoint, caller, request, ask);
  }

  /** Registers the owner and answers the reply. */
  register(email = 'ada@example.com', password = 'correct horse', more: Ask = {}): Promise<Reply> {
    const register = this.endpoint('Register');
    return this.ask(register, { ...more, body: { email, password, name: 'Ada', ...more.body } });
  }

  /** The declaration of an operation of the module. */
  endpoint(id: string): Endpoint {
    const found = this.auth.routes.find((route) => route.endpoint.id === id)?.endpoint;
    if (!found) throw new Error(`no operation ${id}`);
    return found;
  }

  /** The caller whom the gate sees behind a session token. */
  callerOf(token: string | undefined): Caller {
    const caller = token && this.auth.authenticator.bySession(token);
    if (!caller) throw new Error('no such session');
    return caller;
  }

  /** The actions of the audit log, oldest first. */
  audited(): string[] {
    return this.app.db.raw
      .query<{ action: string }, []>('SELECT action FROM audit_log ORDER BY id')
      .all()
      .map(({ action }) => action);
  }

  /** Every value of every table as one text, to look for secrets in. */
  everythingStored(): string {
    const tables = this.app.db.raw
      .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .all();
    return JSON.stringify(tables.map(({ name }) => this.app.db.raw.query(`SELECT * FROM "${name}"`).all()));
  }

  close(): void {
    this.app.db.close();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** The peers of a scene are processes of this user. */
  private createGate(): Gate {
    const proof = { port: () => 8089, ownUid: 1000, uidOf: () => 1000 };
    return createGate(this.app.config, this.auth.authenticator, { proof });
  }

  private async handle(endpoint: Endpoint, caller: Caller, request: Request, ask: Ask): Promise<Reply> {
    const route = this.auth.routes.find((one) => one.endpoint.id === endpoint.id);
    const headers = new Headers();
    const { params = {}, query = {}, body = {}, peer = '127.0.0.1' } = ask;
    const call = {
      params,
      query,
      body,
      caller,
      request,
      requestId: 'req_test',
      peer,
      headers,
    } as unknown as Call;
    const value = await route?.handle(call);
    const set = headers.getSetCookie().find((text) => text.startsWith('es_svc_session='));
    const cookie = set?.slice('es_svc_session='.length).split(';')[0];
    const response = value instanceof Response ? value : undefined;
    return { body: response ? undefined : value, headers, cookie, response };
  }
}

/** Headers of a request of our own page, with the session of a reply when there is one. */
export function ofPage(token?: string): Record<string, string> {
  const own = { origin: 'http://localhost:8089', 'sec-fetch-site': 'same-origin' };
  return token ? { ...own, cookie: `es_svc_session=${token}` } : own;
}

/** The code of the error that a promise is rejected with; `none` when it is not. */
export async function codeOf(work: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof work === 'function' ? work() : work);
    return 'none';
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}
