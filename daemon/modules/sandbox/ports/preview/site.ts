import type { IncomingMessage } from 'node:http';
import { SECOND_MS } from '../../../../../src/kit/time.ts';
import type { App } from '../../../../app.ts';
import { hostName } from '../../../../http/gate/addresses.ts';
import { remembered } from '../../../../http/gate/remembered.ts';
import type { HostedSite, Visit } from '../../../../http/hosted.ts';
import type { SandboxDriver } from '../../drivers/driver.ts';
import type { PreviewAddresses } from '../address.ts';
import type { Awake } from '../awake.ts';
import type { OpenPort, PortService } from '../service.ts';
import type { PreviewTokens } from '../token.ts';
import type { Visits } from '../visits.ts';
import { accessCookies, isNavigation, type Presented, readPresented } from './access.ts';
import type { BoxAgent, BoxTarget } from './agent.ts';
import { type OwnCookies, ownCookies, toBox, toBrowser } from './headers.ts';
import { isKnown, LINK_NEEDED, NO_SUCH_PREVIEW, noticeOf, noticeResponse } from './pages.ts';
import { Passage } from './passage.ts';
import { JoinedSockets, shakeHands } from './socket.ts';
import { bodyOf, exchange } from './upstream.ts';

/** Answers without a body, whatever they say about its length (RFC 9110, 6.4.1). */
const WITHOUT_BODY = new Set([204, 205, 304]);

/** What the previews stand on. */
export interface PreviewParts {
  readonly app: App;
  readonly driver: SandboxDriver;
  readonly ports: PortService;
  readonly addresses: PreviewAddresses;
  readonly tokens: PreviewTokens;
  readonly visits: Visits;
  readonly awake: Awake;
  readonly agent: BoxAgent;
}

/** The previews: each port that has an address is a web site of its own. */
export class PreviewSite implements HostedSite {
  private readonly own: () => OwnCookies;

  constructor(private readonly parts: PreviewParts) {
    this.own = remembered(() => ownCookies(parts.app.config.get('auth.cookie.name')));
  }

  answers(host: string): boolean {
    return this.parts.addresses.read(host) !== undefined;
  }

  async visit(visit: Visit): Promise<Response | undefined> {
    const { ports, addresses } = this.parts;
    const { request, requestId } = visit;
    const label = addresses.read(request.headers.get('host') ?? '');
    const open = label && ports.at(label);
    if (!open) return noticeResponse(request, NO_SUCH_PREVIEW, requestId);
    const presented = readPresented(request);
    const pass = this.passOf(open, presented);
    if (!pass && !open.row.exposed) return noticeResponse(request, LINK_NEEDED, requestId);
    if (presented.link !== undefined && isNavigation(request)) return this.sendOn(request, presented, pass);
    try {
      return await this.serve(visit, open, presented.target, pass);
    } catch (error) {
      if (!isKnown(error))
        this.parts.app.log.debug('a preview failed', { requestId, sandbox: open.sandbox.id, error });
      return noticeResponse(request, noticeOf(error, open.row.port), requestId);
    }
  }

  /** The first good token that a visitor presents. */
  private passOf({ row }: OpenPort, { tokens, link }: Presented): Pass | undefined {
    const now = this.parts.app.clock.now();
    for (const token of tokens) {
      const expiresAt = this.parts.tokens.check(token, row, now);
      if (expiresAt !== undefined)
        return { token, seconds: Math.ceil((expiresAt - now) / SECOND_MS), isNew: token === link };
    }
    return undefined;
  }

  /** To the same address without the token, which is a cookie from now on. */
  private sendOn(request: Request, { target }: Presented, pass: Pass | undefined): Response {
    const headers = new Headers({
      location: `${this.origin(request)}${target}`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    });
    this.remember(headers, pass);
    return new Response(null, { status: 303, headers });
  }

  private remember(headers: Headers, pass: Pass | undefined): void {
    const { isSecure, isLocal } = this.parts.addresses;
    for (const cookie of pass?.isNew ? accessCookies(pass.token, pass.seconds, isSecure, isLocal) : [])
      headers.append('set-cookie', cookie);
  }

  private async serve(
    visit: Visit,
    { row, sandbox }: OpenPort,
    target: string,
    pass: Pass | undefined,
  ): Promise<Response | undefined> {
    const { awake, visits } = this.parts;
    await awake.running(sandbox, row);
    const passage = new Passage();
    const leave = visits.enter(sandbox.id, row.port, () => passage.end());
    const way: Way = { visit, target: row, path: target, passage, leave };
    try {
      const isSocket = visit.request.headers.get('upgrade')?.toLowerCase() === 'websocket';
      const answer = isSocket ? await this.join(way) : await this.pass(way);
      if (answer) this.remember(answer.headers, pass);
      return answer;
    } catch (error) {
      leave();
      throw error;
    }
  }

  private async pass(way: Way): Promise<Response> {
    const { visit, target, path, passage } = way;
    const { request } = visit;
    const headers = toBox(request, this.visitorOf(visit), this.own());
    const { method } = request;
    return this.answerOf(
      way,
      await exchange(this.parts.agent, { target, method, path, headers, request, passage }),
    );
  }

  private async answerOf({ visit: { request }, leave }: Way, message: IncomingMessage): Promise<Response> {
    const status = message.statusCode ?? 502;
    const headers = toBrowser(message.rawHeaders, hostName(request.headers.get('host') ?? ''), this.own());
    const hasBody = request.method !== 'HEAD' && !WITHOUT_BODY.has(status);
    if (hasBody) return new Response(await bodyOf(message, leave), { status, headers });
    message.resume();
    leave();
    return new Response(null, { status, headers });
  }

  private async join(way: Way): Promise<Response | undefined> {
    const { visit, target, path, passage, leave } = way;
    const headers = toBox(visit.request, this.visitorOf(visit), this.own());
    const connection = await this.parts.driver.dial(target.sandboxId, target.port);
    passage.endWith(() => connection.destroy());
    const shaken = await shakeHands(connection, path, headers);
    if ('refused' in shaken) return this.answerOf(way, shaken.refused);
    const { socket, head } = shaken;
    const answer = toBrowser(head.rawHeaders, hostName(headers.host ?? ''), this.own());
    for (const name of [...answer.keys()]) if (name.startsWith('sec-websocket-')) answer.delete(name);
    if (socket.protocol) answer.set('sec-websocket-protocol', socket.protocol);
    const session = new JoinedSockets(socket, leave);
    passage.endWith(() => session.finish(1001, 'the preview has ended'));
    visit.upgrade(session, answer);
    return undefined;
  }

  private origin(request: Request): string {
    return `${this.parts.addresses.isSecure ? 'https' : 'http'}://${request.headers.get('host') ?? ''}`;
  }

  private visitorOf({ peer }: Visit) {
    const { isSecure, isLocal } = this.parts.addresses;
    return { address: peer, isSecure, isBehindProxy: !isLocal };
  }
}

/** A visit on its way to a port. */
interface Way {
  readonly visit: Visit;
  readonly target: BoxTarget;
  /** Path and query. */
  readonly path: string;
  readonly passage: Passage;
  /** To be called when it is over. */
  readonly leave: () => void;
}

/** What lets a visitor in. */
interface Pass {
  readonly token: string;
  /** How long it is good. */
  readonly seconds: number;
  /** It came in the address, so that a browser is to keep it. */
  readonly isNew: boolean;
}
