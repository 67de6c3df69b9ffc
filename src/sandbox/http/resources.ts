import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Fields, isFields } from '../json.ts';
import type { Kind, StoredObject } from '../kind.ts';
import { type Cluster, read, type WriteOptions } from '../objects/cluster.ts';
import { create, refuseUnknown } from '../objects/create.ts';
import { decode } from '../objects/decode.ts';
import { type DeleteOptions, remove } from '../objects/delete.ts';
import { list, selection } from '../objects/list.ts';
import { listOptions } from '../objects/list-options.ts';
import { patched } from '../objects/patch.ts';
import { replace } from '../objects/update.ts';
import { decodeProtobuf } from '../protobuf/decode.ts';
import {
  badRequest,
  invalid,
  invalidValue,
  noMethod,
  notSupported,
  notSupportedOn,
  unsupportedMediaType,
} from '../refusal.ts';
import { accepted, type Form } from './accept.ts';
import { contentType, PROTOBUF, readBody, readEither, readJson, sendJson } from './exchange.ts';
import { shownList, shownObject, tableMaker } from './shown.ts';
import type { Target } from './target.ts';
import { watch } from './watch.ts';

interface Call {
  cluster: Cluster;
  target: Target;
  query: URLSearchParams;
  request: IncomingMessage;
  response: ServerResponse;
}

/** Answers a request for a collection or an object. Throws a Refusal. */
export async function serveResource(call: Call): Promise<void> {
  const form = accepted(call.request);
  if (call.target.name === undefined) await serveCollection(call, form);
  else await serveObject(call, call.target.name, form);
}

async function serveCollection(call: Call, form: Form): Promise<void> {
  const { cluster, target, query, request, response } = call;
  const { kind, namespace } = target;
  const asTable = tableMaker(form, target, query, cluster);
  switch (request.method) {
    case 'GET': {
      const options = listOptions(query);
      const matches = selection(kind, namespace, query);
      if (options.watch) {
        const bookmarks = query.get('allowWatchBookmarks') === 'true';
        watch(cluster, kind, matches, { ...options, bookmarks }, response, asTable);
        return;
      }
      const all = list(cluster, kind, { matches, isSelection: isSelection(query) }, options);
      return sendJson(response, 200, asTable?.(all.items, all.metadata) ?? shownList(form, all));
    }
    case 'POST': {
      if (kind.namespaced && namespace === undefined) throw noMethod();
      const body = await readObject(request, kind);
      const options = writeOptions('CreateOptions', query, response);
      return sendJson(response, 201, create(cluster, kind, namespace, body, options));
    }
    case 'DELETE': {
      if (kind.plural === 'namespaces' || (kind.namespaced && namespace === undefined))
        throw noMethod();
      const options = deleteOptions(await readEither(request), query);
      const matches = selection(kind, namespace, query);
      const all = list(cluster, kind, { matches, isSelection: true }, listOptions(query));
      for (const object of all.items) remove(cluster, kind, object, options);
      return sendJson(response, 200, all);
    }
    default:
      throw kind.custom ? badRequest('name must be provided') : noMethod();
  }
}

const OPTIONS: Record<string, string> = { PUT: 'UpdateOptions', PATCH: 'PatchOptions' };

async function serveObject(call: Call, name: string, form: Form): Promise<void> {
  const { cluster, target, query, request, response } = call;
  const { kind, namespace, status } = target;
  const asTable = tableMaker(form, target, query, cluster);
  // Await the body first: the object is then still current when it is written.
  const body = await readBodyOf(request, kind);
  const old = read(cluster, kind, namespace, name);
  const options = writeOptions(OPTIONS[request.method ?? ''] ?? '', query, response);
  switch (request.method) {
    case 'GET':
      return sendJson(response, 200, asTable?.([old], versionOf(old)) ?? shownObject(form, old));
    case 'PUT': {
      const { object, unknown } = decode(kind, body);
      refuseUnknown(kind, unknown, options);
      return sendJson(response, 200, replace(cluster, kind, old, object, status, options));
    }
    case 'PATCH': {
      const next = patched(kind, old, contentType(request), body, options);
      return sendJson(response, 200, replace(cluster, kind, old, next, status, options));
    }
    case 'DELETE': {
      if (status) throw notSupportedOn(kind, 'delete');
      const left = remove(cluster, kind, old, deleteOptions(body, query));
      return sendJson(response, 200, left ?? deleted(target, old));
    }
    default:
      throw noMethod();
  }
}

const isSelection = (query: URLSearchParams) =>
  ['labelSelector', 'fieldSelector'].some((one) => query.get(one));

const versionOf = ({ metadata }: StoredObject) => ({
  resourceVersion: metadata.resourceVersion ?? '',
});

function deleted({ kind }: Target, object: StoredObject) {
  const { name, uid } = object.metadata;
  const details = {
    name,
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.plural,
    uid,
  };
  return { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Success', details };
}

async function readBodyOf(request: IncomingMessage, kind: Kind): Promise<unknown> {
  switch (request.method) {
    case 'PUT':
      return readObject(request, kind);
    case 'DELETE':
      // kubectl drain sends its options as protobuf.
      return readEither(request);
    default:
      return readJson(request);
  }
}

/**
 * Parses an object in a body. kubectl sends generated built-in kinds as
 * protobuf; custom resources have none.
 */
async function readObject(request: IncomingMessage, { custom }: Kind): Promise<unknown> {
  const type = contentType(request);
  if (type === 'application/json') return readJson(request);
  if (type === PROTOBUF && !custom) return decodeProtobuf(await readBody(request));
  throw unsupportedMediaType(['application/json', 'application/yaml', PROTOBUF]);
}

/**
 * Returns the options of a write. `kind`: kind of the options, for a refusal. Warnings are sent
 * even with a refusal. Throws a 422.
 */
function writeOptions(
  kind: string,
  query: URLSearchParams,
  response: ServerResponse,
): WriteOptions {
  const fieldValidation = query.get('fieldValidation') || 'Warn';
  const dryRun = query.getAll('dryRun');
  const causes = [
    ...(dryRun.every((one) => one === 'All') ? [] : [notSupported('dryRun', dryRun, ['All'])]),
    ...(['Strict', 'Warn', 'Ignore'].includes(fieldValidation)
      ? []
      : [notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn'])]),
  ];
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', causes);
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: fieldValidation as WriteOptions['fieldValidation'],
    warn: (message) => void response.appendHeader('warning', `299 - ${JSON.stringify(message)}`),
  };
}

const POLICIES = ['Foreground', 'Background', 'Orphan', 'nil'];

/**
 * Returns the options of a deletion, from the body or, as curl users write them,
 * from the query. Throws 400 or 422.
 */
function deleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  if (body !== undefined && !isFields(body)) throw badRequest('the options are not a JSON object');
  if (body?.kind !== undefined && body.kind !== 'DeleteOptions')
    throw badRequest(`no kind "${body.kind}" is registered for version "${body.apiVersion}"`);
  const options = givenOptions(body, query);
  const { propagationPolicy: policy, orphanDependents } = options;
  const causes = [
    ...(policy !== undefined && orphanDependents !== undefined
      ? [
          invalidValue(
            'propagationPolicy',
            JSON.stringify(policy),
            'orphanDependents and deletionPropagation cannot be both set',
          ),
        ]
      : []),
    ...(policy === undefined || POLICIES.includes(policy)
      ? []
      : [notSupported('propagationPolicy', policy, POLICIES)]),
  ];
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', causes);
  return options;
}

function givenOptions(body: Fields | undefined, query: URLSearchParams): DeleteOptions {
  const propagationPolicy = query.get('propagationPolicy');
  return {
    ...(propagationPolicy === null
      ? {}
      : {
          propagationPolicy: propagationPolicy as NonNullable<DeleteOptions['propagationPolicy']>,
        }),
    ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
    ...(body as DeleteOptions | undefined),
  };
}
