import { expect, it } from 'vitest';
import { greet } from '../greet';
it('loads a module in TypeScript', () => expect(greet('a')).toBe('hello a'));
