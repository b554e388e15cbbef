/** Time comes in from here: the only package that asks the system for it. */
package io.tessera.clock;
