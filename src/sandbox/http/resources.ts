import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Kind, StoredObject } from '../kind.ts';
import { type Cluster, read, type WriteOptions } from '../objects/cluster.ts';
import { create, refuseUnknown } from '../objects/create.ts';
import { decode } from '../objects/decode.ts';
import { type DeleteOptions, remove } from '../objects/delete.ts';
import { list, selection } from '../objects/list.ts';
import { patched } from '../objects/patch.ts';
import { replace } from '../objects/update.ts';
import { decodeProtobuf } from '../protobuf/decode.ts';
import { badRequest, methodNotAllowed, unsupportedMediaType } from '../refusal.ts';
import { includeObject, tableOf } from '../tables/table.ts';
import { accepted, type Form } from './accept.ts';
import { contentType, PROTOBUF, readBody, readEither, readJson, sendJson } from './exchange.ts';
import type { Target } from './target.ts';
import { type TableMaker, watch } from './watch.ts';

interface Call {
  cluster: Cluster;
  target: Target;
  query: URLSearchParams;
  request: IncomingMessage;
  response: ServerResponse;
}

/** Answers a request about a collection or about one object. Throws a Refusal. */
export async function serveResource(call: Call): Promise<void> {
  const form = accepted(call.request);
  if (call.target.name === undefined) await serveCollection(call, form);
  else await serveObject(call, call.target.name, form);
}

async function serveCollection(call: Call, form: Form): Promise<void> {
  const { cluster, target, query, request, response } = call;
  const { kind, namespace } = target;
  switch (request.method) {
    case 'GET': {
      const matches = selection(kind, namespace, query);
      if (['true', '1'].includes(query.get('watch') ?? '')) {
        watch(cluster, kind, matches, query, response, shownAs(form, call));
        return;
      }
      const all = list(cluster, kind, matches, query);
      return sendJson(response, 200, shownAs(form, call)?.(all.items, all.metadata) ?? all);
    }
    case 'POST': {
      if (kind.namespaced && namespace === undefined) throw methodNotAllowed();
      const body = await readObject(request, kind);
      const warnings: string[] = [];
      const object = create(cluster, kind, namespace, body, writeOptions(query, warnings));
      return sendJson(response, 201, object, warnings);
    }
    case 'DELETE': {
      const options = deleteOptions(await readEither(request), query);
      const all = list(cluster, kind, selection(kind, namespace, query), query);
      for (const object of all.items) remove(cluster, kind, object, options);
      return sendJson(response, 200, all);
    }
    default:
      throw methodNotAllowed();
  }
}

async function serveObject(call: Call, name: string, form: Form): Promise<void> {
  const { cluster, target, query, request, response } = call;
  const { kind, namespace, status } = target;
  // Whatever takes time comes first: what is read here is still current when it is written.
  const body = await readBodyOf(request, kind);
  const old = read(cluster, kind, namespace, name);
  const warnings: string[] = [];
  const options = writeOptions(query, warnings);
  switch (request.method) {
    case 'GET':
      return sendJson(response, 200, shownAs(form, call)?.([old], versionOf(old)) ?? old);
    case 'PUT': {
      const { object, unknown } = decode(kind, body);
      refuseUnknown(kind, unknown, options);
      return sendJson(response, 200, replace(cluster, kind, old, object, status, options), warnings);
    }
    case 'PATCH': {
      const next = patched(kind, old, contentType(request), body, options);
      return sendJson(response, 200, replace(cluster, kind, old, next, status, options), warnings);
    }
    case 'DELETE': {
      if (status) throw methodNotAllowed();
      const left = remove(cluster, kind, old, deleteOptions(body, query));
      return sendJson(response, 200, left ?? deleted(target, old));
    }
    default:
      throw methodNotAllowed();
  }
}

const versionOf = ({ metadata }: StoredObject) => ({ resourceVersion: metadata.resourceVersion ?? '' });

/** How objects are shown that are asked for as a table; undefined: as they are. Throws a 400. */
function shownAs(form: Form, { cluster, target, query }: Call): TableMaker | undefined {
  if (form === 'json') return undefined;
  const include = includeObject(query);
  return (objects, metadata) => tableOf(target.kind, objects, metadata, include, cluster.now().getTime());
}

function deleted({ kind }: Target, object: StoredObject) {
  const { name, uid } = object.metadata;
  const details = { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural, uid };
  return { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Success', details };
}

async function readBodyOf(request: IncomingMessage, kind: Kind): Promise<unknown> {
  switch (request.method) {
    case 'PUT':
      return readObject(request, kind);
    case 'DELETE':
      // kubectl drain has its options in protobuf.
      return readEither(request);
    default:
      return readJson(request);
  }
}

/** kubectl creates built-in kinds that it generates as protobuf; custom resources have none. */
async function readObject(request: IncomingMessage, { custom }: Kind): Promise<unknown> {
  const type = contentType(request);
  if (type === 'application/json') return readJson(request);
  if (type === PROTOBUF && !custom) return decodeProtobuf(await readBody(request));
  throw unsupportedMediaType(['application/json', ...(custom ? [] : [PROTOBUF])]);
}

function writeOptions(query: URLSearchParams, warnings: string[]): WriteOptions {
  const fieldValidation = query.get('fieldValidation') || 'Warn';
  if (fieldValidation !== 'Strict' && fieldValidation !== 'Warn' && fieldValidation !== 'Ignore')
    throw badRequest(`fieldValidation: Unsupported value: ${JSON.stringify(fieldValidation)}`);
  return {
    dryRun: query.getAll('dryRun').includes('All'),
    fieldValidation,
    warn: (message) => warnings.push(message),
  };
}

/** From the body or, as curl users write them, from the query. */
function deleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const propagationPolicy = query.get('propagationPolicy');
  return {
    ...(propagationPolicy === null
      ? {}
      : { propagationPolicy: propagationPolicy as NonNullable<DeleteOptions['propagationPolicy']> }),
    ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
    ...(body as DeleteOptions | undefined),
  };
}
