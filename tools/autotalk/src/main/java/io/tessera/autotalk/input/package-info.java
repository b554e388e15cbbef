/** The error for an input that cannot be used; beneath every other package of Autotalk. */
package io.tessera.autotalk.input;
