import { LIFECYCLE_EVENTS, lifecycleWebhooks } from '../../../../src/api/sandbox/lifecycle-webhooks.ts';
import { word } from '../../../args.ts';
import { readStdin } from '../../../ui/prompt.ts';
import { showFields, showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';

type EventName = (typeof LIFECYCLE_EVENTS)[number];

interface Options {
  event?: EventName[];
  secretStdin?: true;
  json?: true;
}

const eventName = word(...LIFECYCLE_EVENTS);

/** `svc sandbox notify add`: prints the secret that was made for it, the only time that it is shown. */
export const add = verb<[url: string], Options>({
  about: `The events are ${LIFECYCLE_EVENTS.join(', ')}.`,
  configure: (command) =>
    command
      .argument('<url>', 'Address that is told by POST; it must be public')
      .option('--event <event>', 'Only this event; repeatable', (text: string, earlier: EventName[] = []) => [
        ...earlier,
        eventName(text),
      ])
      .option('--secret-stdin', 'Read the secret from stdin in place of making one')
      .option('--json', 'Print JSON'),
  examples: [
    'svc sandbox notify add https://example.com/hook',
    'svc sandbox notify add https://example.com/hook --event sandbox.error --event sandbox.deleted',
  ],
  async run(cli, [url], { event: events, secretStdin, json }) {
    const client = await cli.client();
    const secret = secretStdin ? await readStdin() : undefined;
    const made = await client.call(lifecycleWebhooks.CreateWebhookEndpoint, {
      body: { url, events, secret },
    });
    if (json) showJson(cli, made);
    else {
      showFields(cli, [
        ['id', made.id],
        ['secret', made.secret],
      ]);
    }
    if (made.secret && cli.terminal.err.isTty)
      cli.terminal.note(
        `This is the only time that the secret is shown. Try it: svc sandbox notify test ${made.id}`,
      );
    return undefined;
  },
});
