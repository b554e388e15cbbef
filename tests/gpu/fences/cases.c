/* Reads the file of cases, and makes their data. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void wrong(const char *what, const char *where)
{
    fprintf(stderr, "cases: %s: %s\n", what, where);
    exit(2);
}

static uint64_t number(const char **at)
{
    char *end;
    uint64_t found = strtoull(*at, &end, 0);
    if (end == *at)
        wrong("no number", *at);
    if (*end == 'K' || *end == 'M')
        found <<= *end++ == 'K' ? 10 : 20;
    *at = end;
    return found;
}

static void dimensions(const char *word, unsigned *to)
{
    to[0] = to[1] = to[2] = 1;
    for (int i = 0; i < 3; i++) {
        to[i] = (unsigned)number(&word);
        if (*word != ',')
            break;
        word++;
    }
    if (*word)
        wrong("no dimensions", word);
}

static void scalar(const char *word, struct argument *argument)
{
    const char *at = word + 1;
    if (argument->kind == 'f') {
        float value = strtof(at, NULL);
        memcpy(&argument->value, &value, sizeof value);
    } else {
        argument->value = number(&at);
    }
}

static void buffer(const char *word, struct argument *argument)
{
    const char *at = word + 1;
    argument->count = number(&at);
    if (argument->kind == 'I' && *at == '%') {
        at++;
        argument->modulus = number(&at);
    } else if (argument->kind == 'S' && *at == '*') {
        at++;
        argument->modulus = number(&at);
        argument->count++;
    }
    if (*at)
        wrong("what is this behind a buffer", at);
    argument->bytes = argument->count * (argument->kind == 'D' ? 8 : argument->kind == 'B' ? 1 : 4);
    argument->span = (argument->bytes + 4095) & ~(size_t)4095;
}

static void argument_read(const char *word, struct argument *argument)
{
    memset(argument, 0, sizeof *argument);
    argument->compared = word[0] != '~';
    word += word[0] == '~';
    argument->kind = word[0];
    if (strchr("ifl", word[0]))
        scalar(word, argument);
    else if (strchr("FDIBZWSU", word[0]))
        buffer(word, argument);
    else
        wrong("no such argument", word);
}

int case_read(const char *line, struct fenced_case *found)
{
    char copy[1024], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", line);
    char *word[5] = {strtok_r(copy, " \n", &rest)};
    if (!word[0] || word[0][0] == '#')
        return 0;
    for (int i = 1; i < 5; i++)
        if (!(word[i] = strtok_r(NULL, " \n", &rest)))
            wrong("a short line", line);
    memset(found, 0, sizeof *found);
    snprintf(found->file, sizeof found->file, "%s", word[0]);
    snprintf(found->kernel, sizeof found->kernel, "%s", word[1]);
    dimensions(word[2], found->grid);
    dimensions(word[3], found->block);
    found->shared = (unsigned)strtoul(word[4], NULL, 0);
    for (char *next; (next = strtok_r(NULL, " \n", &rest));) {
        if (found->arguments == MOST_ARGUMENTS)
            wrong("too many arguments", line);
        argument_read(next, &found->argument[found->arguments++]);
    }
    return 1;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545F4914F6CDD1Dull >> 16;
}

void case_fill(const struct argument *argument, int place, void *to)
{
    uint64_t state = 0x9E3779B97F4A7C15ull * (unsigned)(place + 1);
    int32_t *words = to;
    int32_t sum = 0;
    for (size_t i = 0; i < argument->count; i++) {
        uint64_t random = strchr("ZW", argument->kind) ? 0 : next_random(&state);
        switch (argument->kind) {
        case 'F':
            ((float *)to)[i] = (float)(random & 0xFFFFFF) / 16777216.f;
            break;
        case 'D':
            ((double *)to)[i] = (double)(random & 0xFFFFFF) / 16777216.;
            break;
        case 'B':
            ((unsigned char *)to)[i] = (unsigned char)random;
            break;
        case 'W':
            words[i] = 1;
            break;
        case 'I':
            words[i] = (int32_t)(random % (argument->modulus ? argument->modulus : 1u << 31));
            break;
        case 'U':
            words[i] = sum += (int32_t)(random % 64);
            break;
        case 'S':
            /* Rows in pairs that together have twice the mean, so that the last start is what the entries' buffers hold. */
            words[i] = (int32_t)(i / 2 * 2 * argument->modulus);
            words[i] += i % 2 ? (int32_t)(random % (2 * argument->modulus)) : 0;
            break;
        default:
            words[i] = 0;
        }
    }
}
