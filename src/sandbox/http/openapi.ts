import { apiVersionOf } from '../../api/meta.ts';
import type { Kind } from '../kind.ts';
import type { KindRegistry } from '../kind-registry.ts';
import { schemasOf } from './openapi-schemas.ts';

const INFO = { title: 'Stowage sandbox', version: 'v1.32.0' };

/**
 * Returns a minimal OpenAPI v3 document; undefined for other paths. PATCH has `fieldValidation` and
 * `dryRun`, by which kubectl leaves the validation to the server. `kubectl explain` gets all of
 * custom resources, and for built-in kinds a reference to a real cluster.
 */
export function openapiV3(path: string, kinds: KindRegistry): object | undefined {
  const documents = new Map(
    kinds
      .all()
      .map((kind) => [
        `${kind.group === '' ? 'api' : 'apis'}/${apiVersionOf(kind)}`,
        apiVersionOf(kind),
      ]),
  );
  if (path === '/openapi/v3')
    return {
      paths: Object.fromEntries(
        [...documents.keys()].map((name) => [name, { serverRelativeURL: `/openapi/v3/${name}` }]),
      ),
    };
  const name = path.slice('/openapi/v3/'.length);
  const version = path.startsWith('/openapi/v3/') ? documents.get(name) : undefined;
  if (version === undefined) return undefined;
  const served = kinds.all().filter((kind) => apiVersionOf(kind) === version);
  return {
    openapi: '3.0.0',
    info: INFO,
    paths: Object.fromEntries(
      served.map((kind) => [
        `/${name}/${kind.namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}/{name}`,
        operations(kind),
      ]),
    ),
    components: { schemas: schemasOf(served) },
  };
}

function operations({ group, version, kind }: Kind) {
  const common = { 'x-kubernetes-group-version-kind': { group, version, kind }, responses: {} };
  const parameters = ['dryRun', 'fieldValidation'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  }));
  // kubectl explain finds the kind by `get`, and then its schema.
  return { patch: { ...common, parameters }, get: common };
}

/**
 * Type of the OpenAPI v2 document, which is read as protobuf only: a Document of gnostic with
 * `swagger`, `info` and no paths. Clients request `spec.v2@v1.0`. The answer has a dot instead, as
 * the real server's, because Go's mime parser refuses `@`.
 */
export const OPENAPI_V2_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

export function openapiV2(): Buffer {
  const info = Buffer.concat([lengthDelimited(1, INFO.title), lengthDelimited(2, INFO.version)]);
  return Buffer.concat([
    lengthDelimited(1, '2.0'),
    lengthDelimited(2, info),
    lengthDelimited(8, ''),
  ]);
}

/** Encodes a protobuf field of wire type 2, shorter than 128 bytes. */
function lengthDelimited(field: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([(field << 3) | 2, bytes.length]), bytes]);
}
