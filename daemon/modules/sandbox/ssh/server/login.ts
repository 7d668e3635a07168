import { timingSafeEqual } from 'node:crypto';
import type { AuthContext, AuthenticationType, Connection, PublicKeyAuthContext } from 'ssh2';
import type { Entry } from '../connections.ts';
import type { Door } from '../door.ts';
import { fingerprintOf } from '../public-key.ts';
import { isToken } from '../tokens.ts';

type Utils = typeof import('ssh2').utils;

/** What a peer may try. */
const METHODS: AuthenticationType[] = ['publickey', 'password'];
/** Attempts of any kind, and those with a wrong credential, until a connection is ended. */
const MOST_ATTEMPTS = 30;
const MOST_FAILURES = 6;

/** What a login needs of its surroundings. */
export interface LoginParts {
  readonly utils: Utils;
  readonly door: Door;
  /** Counts a failure and answers for how long its answer has to wait, in milliseconds. */
  failed(): number;
  /** Ends the connection. */
  giveUp(): void;
  entered(entry: Entry): void;
}

/**
 * Lets a peer in by a token (as user name or password) or a key. Every refusal looks the same, whether the sandbox
 * exists or not; whether an offered key is known depends on the key alone, not on the user name.
 */
export class Login {
  private attempts = 0;
  private hasOffered = false;
  private failures = 0;
  private isOver = false;

  constructor(
    connection: Connection,
    private readonly parts: LoginParts,
  ) {
    connection.on('authentication', (attempt) => void this.answer(attempt).catch(() => parts.giveUp()));
  }

  /** Whether the peer has tried anything that was refused. */
  get hasTried(): boolean {
    return this.failures > 0 || this.hasOffered;
  }

  /** The connection is over: whoever is still waiting gets no answer. */
  end(): void {
    this.isOver = true;
  }

  private async answer(attempt: AuthContext): Promise<void> {
    if (++this.attempts > MOST_ATTEMPTS) return this.parts.giveUp();
    if (attempt.method === 'publickey') return this.answerKey(attempt);
    const texts = attempt.method === 'password' ? [attempt.username, attempt.password] : [attempt.username];
    const entry =
      attempt.method === 'none' || attempt.method === 'password' ? this.byTexts(texts) : undefined;
    if (entry) return this.accept(attempt, entry);
    const isGuess = attempt.method === 'password' || texts.some(isToken);
    if (isGuess) return this.refuse(attempt);
    attempt.reject(METHODS);
  }

  /** The token is the user name, or the password behind the sandbox's id or name. */
  private byTexts([user = '', password = '']: readonly string[]): Entry | undefined {
    return isToken(user) ? this.parts.door.byToken(user) : this.parts.door.byToken(password, user);
  }

  private async answerKey(attempt: PublicKeyAuthContext): Promise<void> {
    this.hasOffered = true;
    const fingerprint = fingerprintOf(attempt.key.data);
    const isKnown = this.parts.door.knowsKey(fingerprint);
    if (attempt.signature === undefined) return isKnown ? attempt.accept() : attempt.reject(METHODS);
    const isProven = isKnown && this.isProven(attempt);
    const entry = isProven ? this.parts.door.byKey(fingerprint, attempt.username) : undefined;
    return entry ? this.accept(attempt, entry) : this.refuse(attempt);
  }

  private isProven({ key, signature, blob, hashAlgo }: PublicKeyAuthContext): boolean {
    const parsed = this.parts.utils.parseKey(`${key.algo} ${key.data.toString('base64')}`);
    if (parsed instanceof Error || !signature || !blob) return false;
    if (parsed.type !== key.algo || !sameBytes(parsed.getPublicSSH(), key.data)) return false;
    if (parsed.type === 'ssh-rsa' && hashAlgo === undefined) return false;
    return parsed.verify(blob, signature, hashAlgo) === true;
  }

  private accept(attempt: AuthContext, entry: Entry): void {
    if (this.isOver) return;
    this.parts.entered(entry);
    attempt.accept();
  }

  private async refuse(attempt: AuthContext): Promise<void> {
    this.failures++;
    await Bun.sleep(this.parts.failed());
    if (this.isOver) return;
    if (this.failures >= MOST_FAILURES) this.parts.giveUp();
    else attempt.reject(METHODS);
  }
}

function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
