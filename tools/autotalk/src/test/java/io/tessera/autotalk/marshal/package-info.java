/** Tests of what travels: arguments, their extents, and what is in structures. */
package io.tessera.autotalk.marshal;
