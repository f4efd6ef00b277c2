/* What cJSON leaves to its callers. */
#ifndef GEN_JSON_H
#define GEN_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "text.h"

/* Makes `item` the object's member; the item, which may be NULL for one that could not be made, is deleted when it does
 * not become one. */
bool json_add(cJSON *object, const char *name, cJSON *item);

/* Where cJSON could not allocate; every addition goes through these, so that one look at the end is enough. */
struct json {
    bool failed;
};

void json_put_number(struct json *json, cJSON *to, const char *name, double value);
/* Two places after the point are more than a bound deserves. */
void json_put_rounded(struct json *json, cJSON *to, const char *name, double value);
void json_put_string(struct json *json, cJSON *to, const char *name, const char *value);
void json_put_bool(struct json *json, cJSON *to, const char *name, bool value);
void json_put_null(struct json *json, cJSON *to, const char *name);
cJSON *json_put_object(struct json *json, cJSON *to, const char *name);
cJSON *json_put_array(struct json *json, cJSON *to, const char *name);
/* Appends to an array; NULL, which the other functions bear, when that fails. */
cJSON *json_append(struct json *json, cJSON *array, cJSON *item);

/* Adds the text of a root that is `done` with a line's end; deletes the root, which may be NULL, in any case. False
 * where it is not done and without memory. */
bool json_print(cJSON *root, bool done, struct text *out);

#endif
