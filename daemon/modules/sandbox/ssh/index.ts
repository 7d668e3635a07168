import { HOUR_MS } from '../../../../src/kit/time.ts';
import type { BoxFiles } from '../files/box-files.ts';
import type { Room, RoomContext } from '../room.ts';
import { Connections } from './connections.ts';
import { Door } from './door.ts';
import { SshGrants } from './grants.ts';
import { SshKeys } from './keys.ts';
import type { People } from './people.ts';
import { placesIn } from './places.ts';
import { sshRoutes } from './routes.ts';
import { SshServer } from './server/index.ts';
import { SshStore } from './store.ts';
import { SshSwitch } from './switch.ts';
import { SshTokens } from './tokens.ts';

export type { People } from './people.ts';

/** What this room takes from the others. */
export interface SshNeighbours {
  readonly people: People;
  /** The files of a running sandbox, over a process of the caller's own, which the caller closes. */
  openFiles(tenant: string, sandbox: string): Promise<BoxFiles>;
}

/** SSH into sandboxes: tokens, keys, who may come in, and the server itself. */
export function createSshRoom(context: RoomContext, { people, openFiles }: SshNeighbours): Room {
  const { app, driver, lifecycle, commands, events } = context;
  const store = new SshStore(app.db);
  const connections = new Connections();
  const tokens = new SshTokens(app, lifecycle, store, people, connections);
  const grants = new SshGrants(app, lifecycle, store, people, connections);
  const keys = new SshKeys(app, store, people, connections);
  const door = new Door(app.clock, lifecycle, store, tokens, grants);
  const toggle = new SshSwitch(lifecycle, connections);
  const server = new SshServer({
    app,
    connections,
    door,
    commands,
    driver,
    lifecycle,
    events,
    openFiles: async ({ tenant, id }) => {
      const [files, places] = await Promise.all([openFiles(tenant, id), placesIn(driver, id)]);
      return { files, places };
    },
  });
  const endings: Readonly<Record<string, string>> = {
    stopping: 'the sandbox is stopping',
    terminating: 'the sandbox is ending',
    failed: 'the sandbox has failed',
  };
  return {
    routes: sshRoutes({ app, lifecycle, server, tokens, grants, keys, toggle }),
    isBusy: (id) => connections.has(id),
    start() {
      app.bus.on('sandbox.event', ({ tenant, sandboxId, type }) => {
        const reason = endings[type];
        if (reason) connections.closeWhere((entry) => entry.sandboxId === sandboxId, reason);
        if (type === 'created') grants.welcomeCreators(sandboxId);
        if (type === 'terminated') store.deleteTokensOf(tenant, sandboxId);
      });
      grants.welcomeCreators();
      app.jobs.every('ssh.sweep', HOUR_MS, () => tokens.sweep());
      server.start();
    },
    stop: () => server.stop(),
  };
}
