import type { Branch } from '../verb.ts';

/** Every command: its name, its line in the help, and the file that is loaded when it runs. */
export const tree: Branch = {
  summary: '',
  commands: {
    up: {
      summary: 'Check this host, start the daemon, and try it',
      load: async () => (await import('./instance/up.ts')).up,
    },
    down: { summary: 'Stop the daemon', load: async () => (await import('./instance/down.ts')).down },
    status: {
      summary: 'Show whether the daemon answers',
      load: async () => (await import('./instance/status.ts')).status,
    },
    doctor: {
      summary: 'Check whether this host can run sandboxes',
      load: async () => (await import('./instance/doctor.ts')).doctor,
    },
    serve: {
      summary: 'Run the daemon in the foreground',
      load: async () => (await import('./instance/serve.ts')).serve,
    },
    sandbox: {
      summary: 'Make and use sandboxes',
      commands: {
        create: {
          summary: 'Create a sandbox and print its id',
          load: async () => (await import('./sandbox/create.ts')).create,
        },
        list: { summary: 'List sandboxes', load: async () => (await import('./sandbox/list.ts')).list },
        get: { summary: 'Show a sandbox', load: async () => (await import('./sandbox/get.ts')).get },
        exec: {
          summary: 'Run a command in a sandbox',
          load: async () => (await import('./sandbox/exec.ts')).exec,
        },
        shell: {
          summary: 'Open a terminal in a sandbox',
          load: async () => (await import('./sandbox/shell.ts')).shell,
        },
        logs: {
          summary: 'Show what a command printed',
          load: async () => (await import('./sandbox/logs.ts')).logs,
        },
        stop: {
          summary: 'Put sandboxes to sleep and keep their files',
          load: async () => (await import('./sandbox/stop.ts')).stop,
        },
        revive: {
          summary: 'Wake sleeping sandboxes',
          load: async () => (await import('./sandbox/revive.ts')).revive,
        },
        recreate: {
          summary: 'Make a new sandbox like an old one',
          load: async () => (await import('./sandbox/recreate.ts')).recreate,
        },
        terminate: {
          summary: 'End sandboxes for good',
          load: async () => (await import('./sandbox/terminate.ts')).terminate,
        },
        rm: {
          summary: 'Remove sandboxes for good',
          load: async () => (await import('./sandbox/remove.ts')).remove,
        },
        stats: {
          summary: 'Show what a sandbox uses',
          load: async () => (await import('./sandbox/stats.ts')).stats,
        },
        events: {
          summary: 'Show what happened to a sandbox',
          load: async () => (await import('./sandbox/events.ts')).events,
        },
        templates: {
          summary: 'List templates to start from',
          load: async () => (await import('./sandbox/templates.ts')).templates,
        },
        overview: {
          summary: 'Sum up all sandboxes',
          load: async () => (await import('./sandbox/overview.ts')).overview,
        },
      },
    },
    key: {
      summary: 'Make and revoke API keys',
      commands: {
        create: {
          summary: 'Create a key and print it',
          load: async () => (await import('./key/create.ts')).create,
        },
        list: { summary: 'List the keys', load: async () => (await import('./key/list.ts')).list },
        revoke: { summary: 'End a key for good', load: async () => (await import('./key/revoke.ts')).revoke },
      },
    },
    login: {
      summary: 'Sign in to a daemon',
      load: async () => (await import('./account/login.ts')).login,
    },
    logout: {
      summary: 'Sign out and forget the credential',
      load: async () => (await import('./account/logout.ts')).logout,
    },
    whoami: {
      summary: 'Show who calls, and which daemon',
      load: async () => (await import('./account/whoami.ts')).whoami,
    },
    context: {
      summary: 'Choose among several daemons',
      commands: {
        add: { summary: 'Remember a daemon', load: async () => (await import('./context/add.ts')).add },
        list: { summary: 'List the contexts', load: async () => (await import('./context/list.ts')).list },
        use: { summary: 'Make a context active', load: async () => (await import('./context/use.ts')).use },
        remove: {
          summary: 'Forget a context',
          load: async () => (await import('./context/remove.ts')).remove,
        },
      },
    },
    config: {
      summary: "See and change the settings of this machine's instance",
      commands: {
        list: { summary: 'List every setting', load: async () => (await import('./config/list.ts')).list },
        get: { summary: 'Show one setting', load: async () => (await import('./config/get.ts')).get },
        set: { summary: 'Write one setting', load: async () => (await import('./config/set.ts')).set },
      },
    },
    api: {
      summary: 'Make any call of the API',
      load: async () => (await import('./api/call.ts')).call,
    },
    completion: {
      summary: 'Print a completion script for a shell',
      load: async () => (await import('./completion/print.ts')).completion,
    },
  },
};
