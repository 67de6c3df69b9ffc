import type { Logger } from '../../src/api/logger.ts';

export interface Line {
  level: string;
  fields: Record<string, unknown>;
  message: string;
}

/** Returns a logger that stores its lines. */
export function memoryLogger(): Logger & { lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields: fields as Record<string, unknown>, message });
  };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
