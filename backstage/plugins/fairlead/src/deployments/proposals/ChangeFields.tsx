import {
  Button,
  ButtonIcon,
  Flex,
  NumberField,
  Radio,
  RadioGroup,
  TextField,
} from '@backstage/ui';
import { RiDeleteBinLine } from '@remixicon/react';
import { checked, noValue, type ChangeForm, type Problems } from './change';
import styles from './ChangeFields.module.css';

interface FieldsProps {
  form: ChangeForm;
  set(change: Partial<ChangeForm>): void;
  problems: Problems;
  /** Images that run there now. */
  images?: string[];
}

const File = ({ form, set }: FieldsProps) => (
  <TextField
    label="File"
    description="In the environment's folder; only where several would do."
    value={form.file}
    onChange={file => set({ file })}
  />
);

const Image = (props: FieldsProps) => {
  const { form, set, problems, images = [] } = props;
  return (
    <Flex direction="column" gap="3">
      <TextField
        label="Tag"
        description="Alone it removes a digest that is there."
        value={form.tag}
        onChange={tag => set({ tag })}
        {...checked(problems.tag)}
      />
      <TextField
        label="Digest"
        description="sha256: and the hash that the registry tells."
        value={form.digest}
        onChange={digest => set({ digest })}
        {...checked(problems.digest)}
      />
      <TextField
        label="Image"
        description={
          images.length > 1
            ? `One of ${images.join(', ')}.`
            : 'Its name without the version; only where there are several.'
        }
        value={form.name}
        onChange={name => set({ name })}
      />
      <File {...props} />
    </Flex>
  );
};

const Replicas = (props: FieldsProps) => (
  <Flex direction="column" gap="3">
    <NumberField
      label="Replicas"
      minValue={0}
      value={props.form.replicas ?? NaN}
      onChange={replicas => props.set({ replicas })}
      {...checked(props.problems.replicas)}
    />
    <File {...props} />
  </Flex>
);

type Value = ChangeForm['values'][number];

/** One value to write: where, and what. */
const OneValue = (props: {
  value: Value;
  n: number;
  problem?: string;
  set(change: Partial<Value>): void;
  remove?(): void;
}) => {
  const { value, n, problem, set, remove } = props;
  return (
    <div role="group" aria-label={`Value ${n}`} className={styles.value}>
      <TextField
        label="Path"
        placeholder="spec.replicas"
        value={value.path}
        onChange={path => set({ path })}
        {...checked(problem)}
      />
      <TextField
        label="Value"
        value={value.value}
        onChange={text => set({ value: text })}
      />
      <TextField
        label="File"
        value={value.file}
        onChange={file => set({ file })}
      />
      {remove && (
        <ButtonIcon
          variant="tertiary"
          aria-label={`Remove value ${n}`}
          icon={<RiDeleteBinLine />}
          onPress={remove}
        />
      )}
    </div>
  );
};

const most = 20; // the server takes no more at once

const Values = ({ form, set, problems }: FieldsProps) => {
  const { values } = form;
  const put = (at: number, change: Partial<Value>) =>
    set({ values: values.map((v, i) => (i === at ? { ...v, ...change } : v)) });
  return (
    <Flex direction="column" gap="3">
      {values.map((value, i) => (
        <OneValue
          key={i}
          n={i + 1}
          value={value}
          problem={problems[`path${i}`]}
          set={change => put(i, change)}
          remove={
            values.length > 1
              ? () => set({ values: values.filter((_, at) => at !== i) })
              : undefined
          }
        />
      ))}
      <div>
        <Button
          variant="tertiary"
          size="small"
          isDisabled={values.length >= most}
          onPress={() => set({ values: [...values, noValue] })}
        >
          Another value
        </Button>
      </div>
    </Flex>
  );
};

const whats = { image: Image, replicas: Replicas, set: Values };

/** What is to be changed: an image, replicas, or values by their paths. */
export const ChangeFields = (props: FieldsProps) => {
  const What = whats[props.form.what];
  return (
    <Flex direction="column" gap="4">
      <RadioGroup
        label="What to change"
        orientation="horizontal"
        value={props.form.what}
        onChange={what => props.set({ what: what as ChangeForm['what'] })}
      >
        <Radio value="image">Image version</Radio>
        <Radio value="replicas">Replicas</Radio>
        <Radio value="set">Values by path</Radio>
      </RadioGroup>
      <What {...props} />
    </Flex>
  );
};
