/** Steps and random histories for the memory models. */
package io.tessera.memory;
