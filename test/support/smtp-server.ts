import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';
import { type ChildServer, startChild } from './child-server.ts';

/** A letter that the server took. */
export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string;
  readonly raw: string;
}

/** How the server behaves. */
export interface SmtpOptions {
  /** `user:password` that a sender must give. */
  readonly auth?: string;
  /** It takes no letter. */
  readonly refuses?: boolean;
}

/** Starts a mail server on this machine, in a process of its own. */
export function startSmtpServer(options: SmtpOptions = {}): Promise<ChildServer<TakenMail>> {
  return startChild(import.meta.path, [JSON.stringify(options)]);
}

async function serve({ auth, refuses }: SmtpOptions): Promise<void> {
  const say = (event: object) => void process.stdout.write(`${JSON.stringify(event)}\n`);
  const server = new SMTPServer({
    authOptional: auth === undefined,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth({ username, password }, _, done) {
      const isRight = `${username}:${password}` === auth;
      done(isRight ? null : new Error(`no such user ${username} with ${password}`), { user: username });
    },
    onData(stream, session, done) {
      let raw = '';
      stream.on('data', (chunk: Buffer) => {
        raw += chunk.toString('utf8');
      });
      stream.on('end', () => {
        if (refuses) return done(new Error('no'));
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        say({ from, to: rcptTo.map(({ address }) => address), user: session.user ?? '', raw });
        done();
      });
    },
  });
  server.on('error', () => {});
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const address = listening.address();
  say({ port: typeof address === 'object' ? address?.port : undefined });
}

if (import.meta.main) await serve(JSON.parse(process.argv[2] ?? '{}') as SmtpOptions);
