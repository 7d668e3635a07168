import { sandboxPorts } from '../../../../src/api/sandbox/ports.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import { implement, type Route } from '../../../http/route.ts';
import { requireUpgrade } from '../../../http/sockets.ts';
import type { PortService } from './service.ts';
import { TunnelSession } from './tunnel.ts';
import type { Visits } from './visits.ts';
import { toDetected, toMapping } from './wire.ts';

const DEFAULT_LINK_SECONDS = 3_600;

/** The operations on ports. */
export function portRoutes(ports: PortService, visits: Visits): Route[] {
  return implement(sandboxPorts, {
    ListExposedPorts: ({ caller, params }) => ({
      ports: ports.list(caller.tenant, params.sessionId).map(toMapping),
    }),
    ExposePort: ({ caller, params, body: { port, protocol, wakeCommand } }) => {
      if (port === undefined) throw invalid({ field: 'port', description: 'is required' });
      return {
        mapping: toMapping(
          ports.expose(caller, params.sessionId, port, { protocol: protocol || 'http', wakeCommand }),
        ),
      };
    },
    DetectListeningPorts: async ({ caller, params }) => {
      const { found, exposed } = await ports.detect(caller.tenant, params.sessionId);
      return { ports: found.map((one) => toDetected(one, exposed)) };
    },
    UnexposePort: ({ caller, params }) => {
      ports.unexpose(caller, params.sessionId, params.port);
      return { success: true, message: `Port ${params.port} has no address any more.` };
    },
    CreatePreviewUrl: ({ caller, params, body }) => {
      const seconds = body.expires_in_seconds ?? DEFAULT_LINK_SECONDS;
      const { url, expiresAt } = ports.sign(caller, params.sandboxId, body.port, seconds);
      return { url, expires_at: rfc3339(expiresAt) };
    },
    ConnectSandboxPort: async ({ caller, params: { sandboxId, port }, request }) => {
      const { id, connection } = await ports.connect(caller.tenant, sandboxId, port);
      try {
        requireUpgrade(request);
        const session = new TunnelSession(connection);
        session.onClosed = visits.enter(id, port, () => session.finish(1001, 'the sandbox stopped'));
        return session;
      } catch (error) {
        connection.destroy();
        throw error;
      }
    },
  });
}
