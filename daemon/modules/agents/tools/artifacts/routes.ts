import { agentArtifacts } from '../../../../../src/api/agents/artifacts.ts';
import { fail } from '../../../../../src/errors/app-error.ts';
import { implement, type Route } from '../../../../http/route.ts';
import type { ArtifactService } from './service.ts';
import { toWire } from './wire.ts';

/** The operations on artifacts. `hasSession` knows the sessions of a tenant. */
export function artifactRoutes(
  artifacts: ArtifactService,
  hasSession: (tenant: string, sessionId: string) => boolean,
): Route[] {
  const checked = (tenant: string, id: string) => {
    if (!hasSession(tenant, id)) throw fail('not_found', { what: 'session', id });
    return id;
  };
  return implement(agentArtifacts, {
    ListSessionArtifacts: ({ caller, params }) => {
      const rows = artifacts.list(caller.tenant, checked(caller.tenant, params.sessionId));
      return { artifacts: rows.map(toWire), total: rows.length };
    },
    GetSessionArtifact: ({ caller: { tenant }, params }) => {
      const row = artifacts.get(tenant, checked(tenant, params.sessionId), params.artifactId);
      const parts = artifacts.read(row);
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const { done, value } = parts.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      });
      // An agent has written it: a browser saves it and never shows it as a page of this origin.
      const headers = {
        'content-type': row.mediaType,
        'content-length': String(row.size),
        'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(row.name.toWellFormed())}`,
        'x-content-type-options': 'nosniff',
      };
      return new Response(body, { headers });
    },
  });
}
