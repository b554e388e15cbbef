/**
 * The arrows of the design and the rules of the style, held against the compiled classes and the sources of the whole
 * tree. {@code RulesSeeViolationsTest} holds each rule against a class that breaks it, so no rule can pass by seeing
 * nothing.
 */
package io.tessera.architecture;
