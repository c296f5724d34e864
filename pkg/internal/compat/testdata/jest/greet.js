exports.greet = (who) => 'hello ' + who;
