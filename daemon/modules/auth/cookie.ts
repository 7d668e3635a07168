import { Cookie } from 'bun';
import { SECOND_MS } from '../../../src/kit/time.ts';
import type { Config } from '../../config/config.ts';
import { isLocalNetwork } from '../../http/gate/addresses.ts';
import { readCookie } from '../../http/gate/credentials.ts';
import type { Site } from '../../http/gate/site.ts';

/** The cookie of the browser sessions (spec, Session cookie properties). */
export class SessionCookie {
  constructor(
    private readonly config: Config,
    private readonly site: Site,
  ) {}

  /** The session token that a request carries. */
  read(request: Request): string | undefined {
    return readCookie(request, this.name) || undefined;
  }

  /** Hands the browser a token for `maxAgeMs`. */
  set(headers: Headers, request: Request, token: string, maxAgeMs: number): void {
    this.append(headers, request, this.name, token, maxAgeMs);
  }

  /** Takes the token from the browser. */
  clear(headers: Headers, request: Request): void {
    this.append(headers, request, this.name, '', 0);
  }

  /** Reads the cookie that ties a sign-in at an identity provider to the browser that began it. */
  readAttempt(request: Request): string | undefined {
    return readCookie(request, this.attemptName) || undefined;
  }

  setAttempt(headers: Headers, request: Request, secret: string, maxAgeMs: number): void {
    this.append(headers, request, this.attemptName, secret, maxAgeMs);
  }

  private get name(): string {
    return this.config.get('auth.cookie.name');
  }

  private get attemptName(): string {
    return `${this.name}_sign_in`;
  }

  private append(headers: Headers, request: Request, name: string, value: string, maxAgeMs: number): void {
    const secure = this.config.get('auth.cookie.secure') && !isLocalNetwork(this.site.nameOf(request));
    const cookie = new Cookie(name, value, {
      path: '/',
      domain: this.config.get('auth.cookie.domain') || undefined,
      httpOnly: this.config.get('auth.cookie.http_only'),
      secure,
      sameSite: this.sameSite(secure),
      maxAge: Math.round(maxAgeMs / SECOND_MS),
    });
    headers.append('set-cookie', cookie.serialize());
  }

  /** Browsers drop a cookie that is SameSite=None and not Secure, so it becomes Lax. */
  private sameSite(secure: boolean): 'lax' | 'strict' | 'none' {
    const configured = this.config.get('auth.cookie.same_site');
    if (configured === 'None') return secure ? 'none' : 'lax';
    return configured === 'Strict' ? 'strict' : 'lax';
  }
}
