import type { Column } from '../kind.ts';
import { since } from './cells.ts';
import { parseJsonPath } from './json-path.ts';

/** Entry of `additionalPrinterColumns` in a version of a CustomResourceDefinition. */
export interface PrinterColumn {
  name: string;
  type: Column['type'];
  jsonPath: string;
  format?: string;
  description?: string;
  priority?: number;
}

const CREATED: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
};
const TYPES = ['string', 'integer', 'number', 'boolean', 'date'];

/**
 * Returns the columns of a custom resource. Throws for a column that the API server refuses or the
 * sandbox does not support.
 */
export function customColumns(columns: PrinterColumn[] | undefined): Column[] {
  return (columns?.length ? columns : [CREATED]).map(
    ({ name, type, jsonPath, format, description, priority }) => {
      if (!name) throw new Error('a column needs a name');
      if (!TYPES.includes(type))
        throw new Error(`column ${name}: ${type} is none of ${TYPES.join(', ')}`);
      const find = parseJsonPath(jsonPath);
      return {
        name,
        type,
        ...(format === undefined ? {} : { format }),
        description:
          description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
        ...(priority === undefined ? {} : { priority }),
        cell: (object, now) => cellOf(type, find(object)[0], now),
      };
    },
  );
}

function cellOf(type: Column['type'], value: unknown, now: number): unknown {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'string':
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
    case 'date': {
      if (typeof value !== 'string') return null;
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : since(value, now);
    }
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    default:
      if (typeof value !== 'number') return null;
      return type === 'integer' ? Math.trunc(value) : value;
  }
}
