const { greet } = require('../greet.js');
it('loads a module', () => expect(greet('a')).toBe('hello a'));
