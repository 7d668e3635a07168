import { frame } from './aws-event-stream.ts';
import { type AwsAccess, signatureFault } from './aws-signature.ts';
import {
  type FakeCall,
  type FakeProvider,
  hang,
  inPieces,
  note,
  serveFake,
  startFake,
} from './fake-provider.ts';
import { answerBedrock, type BedrockAsk, embedOne, eventsOf } from './upstream-bedrock-answer.ts';
import { BedrockRefusal, complaintOf } from './upstream-bedrock-rules.ts';

/** A fake of Amazon Bedrock. */
export interface TestBedrock extends FakeProvider {
  readonly url: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Goes with another access key, SESSION_KEY. */
  readonly sessionToken: string;
  readonly sessionKeyId: string;
  readonly bearer: string;
}

const REGION = 'eu-central-1';
const BEARER = 'bedrock-api-key-0123456789';
const ACCESS: AwsAccess = {
  accessKeyId: 'AKIATESTTESTTEST0001',
  secretAccessKey: 'se/cret+0123456789',
  region: REGION,
  service: 'bedrock',
};
const SESSION: AwsAccess = {
  ...ACCESS,
  accessKeyId: 'ASIATESTTESTTEST0002',
  sessionToken: 'IQoJb3JpZ2luX2VjE==',
};

/** Starts one on a free port. */
export async function startBedrock(): Promise<TestBedrock> {
  const fake = await startFake(import.meta.path);
  const { accessKeyId, secretAccessKey } = ACCESS;
  return {
    ...fake,
    url: fake.origin,
    region: REGION,
    accessKeyId,
    secretAccessKey,
    sessionKeyId: SESSION.accessKeyId,
    sessionToken: SESSION.sessionToken ?? '',
    bearer: BEARER,
  };
}

async function answer(call: FakeCall): Promise<Response> {
  const fault = accessFault(call);
  if (fault) return failure(403, 'InvalidSignatureException', fault);
  const { pathname } = call.url;
  if (pathname === '/foundation-models')
    return Response.json({
      modelSummaries: [
        { modelId: 'amazon.nova-lite-v1:0', inferenceTypesSupported: ['ON_DEMAND'] },
        {
          modelId: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
          inferenceTypesSupported: ['INFERENCE_PROFILE'],
        },
      ],
    });
  if (pathname === '/inference-profiles')
    return Response.json({
      inferenceProfileSummaries: [{ inferenceProfileId: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0' }],
    });
  const path = /^\/model\/([^/]+)\/(converse|converse-stream|invoke)$/.exec(pathname);
  if (!path) return failure(404, 'UnknownOperationException', 'no such operation');
  note(call);
  return callModel(decodeURIComponent(path[1] ?? ''), path[2] ?? '', call);
}

function accessFault(call: FakeCall): string | undefined {
  const given = call.headers.get('authorization') ?? '';
  if (given.startsWith('Bearer '))
    return given === `Bearer ${BEARER}` ? undefined : 'The bearer token is invalid.';
  return signatureFault(call, given.includes(SESSION.accessKeyId) ? SESSION : ACCESS);
}

async function callModel(model: string, operation: string, call: FakeCall): Promise<Response> {
  const misbehaviour = await misbehave(model, call);
  if (misbehaviour) return misbehaviour;
  try {
    if (operation === 'invoke') return embedOne(model, JSON.parse(call.text));
    const ask = JSON.parse(call.text) as BedrockAsk;
    complaintOf(ask, model);
    const whole = answerBedrock(ask, model);
    if (operation === 'converse') return Response.json(whole);
    const frames = eventsOf(whole, ask.messages.length).map(([type, payload]) =>
      frame({ ':message-type': 'event', ':event-type': type }, payload),
    );
    const bytes = Buffer.concat(broken(model, frames));
    return new Response(inPieces(bytes, model, call.signal), {
      headers: { 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': 'req-1' },
    });
  } catch (error) {
    if (error instanceof BedrockRefusal) return failure(400, 'ValidationException', error.message);
    throw error;
  }
}

function broken(model: string, frames: Buffer[]): Buffer[] {
  const exception = (type: string) =>
    frame({ ':message-type': 'exception', ':exception-type': type }, { message: `${type} happened` });
  if (model.includes('throttled-first')) return [exception('throttlingException')];
  if (model.includes('throttled-midstream')) return [...frames.slice(0, 4), exception('throttlingException')];
  if (model.includes('stream-error')) return [...frames.slice(0, 4), exception('modelStreamErrorException')];
  if (!model.includes('damaged')) return frames;
  const third = Buffer.from(frames[3] ?? []);
  third[third.length - 6] = (third[third.length - 6] ?? 0) ^ 1;
  return [...frames.slice(0, 3), third, ...frames.slice(4)];
}

async function misbehave(model: string, { signal }: FakeCall): Promise<Response | undefined> {
  switch (model) {
    case 'hangs':
      return hang(signal);
    case 'rate-limited':
      return failure(429, 'ThrottlingException', 'Too many requests, please wait before trying again.', {
        'retry-after': '7',
      });
    case 'over-quota':
      return failure(400, 'ServiceQuotaExceededException', 'Your account has used its quota.');
    case 'broken':
      return failure(500, 'InternalServerException', `something broke with ${ACCESS.secretAccessKey}`);
    case 'model-error':
      return failure(424, 'ModelErrorException', 'The model failed.');
    case 'model-timeout':
      return failure(408, 'ModelTimeoutException', 'The model took too long.');
    case 'forbids':
      return failure(
        403,
        'AccessDeniedException',
        'You do not have access to the model with the specified model ID.',
      );
    default:
      return undefined;
  }
}

function failure(
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json(
    { message },
    {
      status,
      headers: {
        ...headers,
        'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
      },
    },
  );
}

if (import.meta.main) serveFake(answer);
