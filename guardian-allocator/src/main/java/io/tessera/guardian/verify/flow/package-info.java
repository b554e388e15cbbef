/** The instructions of a function, its blocks, and which come before which. */
package io.tessera.guardian.verify.flow;
