/**
 * Reads C headers: a preprocessor, a parser for declarations, and the sizes that x86-64 Linux gives to what was
 * declared. The result is a {@link io.tessera.autotalk.description.Description}; nothing else leaves this package.
 *
 * <p>The preprocessor knows what driver headers use: conditionals, object-like and function-like macros, pasting and
 * {@code #undef}. It follows no {@code #include}: every header is named on the command line.
 */
package io.tessera.autotalk.header;
